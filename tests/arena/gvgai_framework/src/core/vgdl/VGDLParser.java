package core.vgdl;

import core.game.Game;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;

public class VGDLParser {
    public Game parseGame(String file) {
        try {
            return new Game(Integer.parseInt(Files.readString(Paths.get(file)).trim()));
        } catch (IOException problem) {
            throw new RuntimeException(problem);
        }
    }
}

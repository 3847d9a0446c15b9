package core.vgdl;

import core.game.Game;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Of a description only how long a game lasts, and what going right is worth. */
public class VGDLParser {
    public Game parseGame(String file) {
        try {
            String text = Files.readString(Paths.get(file));
            return new Game(number(text, "limit"), number(text, "value"));
        } catch (IOException problem) {
            throw new RuntimeException(problem);
        }
    }

    private static int number(String text, String parameter) {
        Matcher matcher = Pattern.compile(parameter + "=(\\d+)").matcher(text);
        matcher.find();
        return Integer.parseInt(matcher.group(1));
    }
}

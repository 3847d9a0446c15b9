package ontology;

import java.awt.Color;
import java.util.Random;

public class Types {
    public static final Color RANDOM = new Color(new Random().nextInt(256), 0, 0);

    public enum ACTIONS { ACTION_NIL, ACTION_LEFT, ACTION_RIGHT }

    public enum WINNER { PLAYER_DISQ, NO_WINNER, PLAYER_LOSES, PLAYER_WINS }
}

package core.competition;

public class CompetitionParameters {
    public static final int ACTION_TIME = 40;
    public static final int ACTION_TIME_DISQ = 50;
    public static final int INITIALIZATION_TIME = 1000;
    public static final int TEAR_DOWN_TIME = 100;
    public static final int KEY_INPUT = 0;
    public static int KEY_HANDLER = KEY_INPUT;
}

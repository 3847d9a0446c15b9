package core.logging;

public class Logger {
    private static final Logger INSTANCE = new Logger();

    public static Logger getInstance() {
        return INSTANCE;
    }

    public void flushMessages() {}
}

package examiner.gvgai;

/** How a play stands, or ended; read by the watchdog too. */
public final class Outcome {
    /** What can be read of a game at any time. */
    public interface Standing {
        double score();

        int ticks();
    }

    public volatile String status = "finished";
    public volatile double win = Double.NaN;
    public volatile double score = Double.NaN;
    public volatile int ticks;
    public volatile String reason = "";
    public volatile Standing standing;
    /** The plan's fault or the checkout's, not a way to play: the job cannot be played at all. */
    public volatile boolean unplayable;

    /** The play ended otherwise than a game does: what was not observed stays so. */
    public void end(String how, String why) {
        status = how;
        reason = why;
        win = Double.NaN;
        score = Double.NaN;
        readTicks();
    }

    /** The play was stopped for its cost: not won until then, with the score of then. */
    void cap() {
        status = "capped";
        win = 0.0;
        readTicks();
        try {
            score = standing == null ? Double.NaN : standing.score();
        } catch (RuntimeException broken) {
            score = Double.NaN;
        }
    }

    private void readTicks() {
        try {
            ticks = standing == null ? 0 : Math.max(0, standing.ticks());
        } catch (RuntimeException broken) {
            ticks = 0;
        }
    }
}

package tools;

import examiner.gvgai.Clock;

/**
 * The framework's timer, written anew to go by {@link Clock}; found before the framework's own.
 *
 * <p>The names of its methods are those that agents and framework call.
 */
public class ElapsedCpuTimer {
    private static final long NANOS_PER_MILLI = 1_000_000L;

    private long begun = Clock.look();
    private long most;

    public ElapsedCpuTimer copy() {
        ElapsedCpuTimer other = new ElapsedCpuTimer();
        other.begun = begun;
        other.most = most;
        return other;
    }

    public long elapsed() {
        return Clock.look() - begun;
    }

    public long elapsedNanos() {
        return elapsed();
    }

    public long elapsedMillis() {
        return elapsed() / NANOS_PER_MILLI;
    }

    public double elapsedSeconds() {
        return elapsedMillis() / 1000.0;
    }

    public double elapsedMinutes() {
        return elapsedSeconds() / 60.0;
    }

    public double elapsedHours() {
        return elapsedMinutes() / 60.0;
    }

    public void setMaxTimeMillis(long time) {
        most = time * NANOS_PER_MILLI;
    }

    public long remainingTimeMillis() {
        return (most - elapsed()) / NANOS_PER_MILLI;
    }

    public boolean exceededMaxTime() {
        return elapsed() > most;
    }

    @Override
    public String toString() {
        return elapsed() / (double) NANOS_PER_MILLI + " ms elapsed";
    }
}

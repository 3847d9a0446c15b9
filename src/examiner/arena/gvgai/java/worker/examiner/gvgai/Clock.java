package examiner.gvgai;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * The time that a play goes by, in place of the framework's CPU timer, and the end of its patience.
 *
 * <p>The framework's limits (40 ms an action, 50 ms before disqualification, 1 s to begin) are compiled into it and
 * into agents. So time itself is scaled: under a budget of model calls each call takes its share of 40 ms, under a
 * budget of milliseconds the thread's CPU time is stretched to 40.
 */
public final class Clock {
    private static final double ACTION_NANOS = 40e6;
    /** A look at the clock, or a copy of the model, takes a hundredth of a call: who only looks comes to an end too. */
    private static final double LOOKS_PER_CALL = 100.0;
    private static final int CHECK_EVERY = 32;
    private static final double FORGIVEN_NANOS = 39e6;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final com.sun.management.OperatingSystemMXBean PROCESS =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static boolean virtual = true;
    private static double callNanos = ACTION_NANOS;
    private static double stretch = 1.0;
    private static double nanos;
    private static long calls;
    private static int unchecked;
    private static long cpuBegun;
    private static long cpuMost = Long.MAX_VALUE;
    private static volatile boolean capped;

    private Clock() {}

    /** Start at zero, with this budget an action and so many CPU seconds for the play. */
    static void begin(boolean modelCalls, double budget, double cpuSeconds) {
        virtual = modelCalls;
        callNanos = ACTION_NANOS / budget;
        stretch = ACTION_NANOS / (budget * 1e6);
        nanos = 0.0;
        calls = 0;
        capped = false;
        cpuBegun = PROCESS.getProcessCpuTime();
        cpuMost = (long) (cpuSeconds * 1e9);
    }

    /** The time now, in nanoseconds of the framework's; looking takes a little. */
    public static long look() {
        check();
        if (!virtual) {
            return (long) (THREADS.getCurrentThreadCpuTime() * stretch);
        }
        nanos += callNanos / LOOKS_PER_CALL;
        return (long) nanos;
    }

    /** The model is advanced by one tick. */
    public static void call() {
        check();
        calls++;
        nanos += callNanos;
    }

    /** The model is copied. */
    public static void copy() {
        check();
        nanos += callNanos / LOOKS_PER_CALL;
    }

    /** The virtual time, for who is not played: this look takes no time. */
    public static double now() {
        return nanos;
    }

    /** An action that took too long is taken as if it had taken its time: the clock goes back to then. */
    public static void forgive(double begun) {
        nanos = Math.min(nanos, begun + FORGIVEN_NANOS);
    }

    public static long calls() {
        return calls;
    }

    /** Seconds of CPU since the play began, of the whole process: other threads of an agent count. */
    public static double cpuSeconds() {
        return (PROCESS.getProcessCpuTime() - cpuBegun) / 1e9;
    }

    static boolean isVirtual() {
        return virtual;
    }

    static boolean isCapped() {
        return capped;
    }

    private static void check() {
        if (capped) {
            throw new Ended("capped");
        }
        if (++unchecked >= CHECK_EVERY) {
            checkNow();
        }
    }

    /** End the play if it has used up its CPU seconds. */
    public static void checkNow() {
        unchecked = 0;
        if (capped || PROCESS.getProcessCpuTime() - cpuBegun > cpuMost) {
            capped = true;
            throw new Ended("capped");
        }
    }
}

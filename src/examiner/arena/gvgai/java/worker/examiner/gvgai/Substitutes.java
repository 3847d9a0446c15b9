package examiner.gvgai;

import java.util.Collections;
import java.util.List;
import java.util.Random;

/** What agents and games get in place of chance, time and the end of the process: all of it the play's own. */
public final class Substitutes {
    private static final long EPOCH_MILLIS = 1_420_070_400_000L; // 2015: agents that print the date print one
    private static final long STEP = 0x9E3779B97F4A7C15L;

    private static long state;
    private static Random chance = new Random(0);

    private Substitutes() {}

    static void begin(long seed) {
        state = seed;
        chance = new Random(nextSeed());
    }

    /** The next of the play's seeds: SplitMix64 (Steele, Lea and Flood, 2014). */
    static synchronized long nextSeed() {
        state += STEP;
        long mixed = state;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }

    /** For Math.random(). */
    public static double random() {
        return chance.nextDouble();
    }

    /** For Collections.shuffle(list). */
    public static void shuffle(List<?> list) {
        Collections.shuffle(list, chance);
    }

    /** For System.exit(code). */
    public static void exit(int code) {
        throw new Ended("exited");
    }

    /** For System.nanoTime(). */
    public static long nanoTime() {
        return Clock.isVirtual() ? Clock.look() : System.nanoTime();
    }

    /** For System.currentTimeMillis(). */
    public static long currentTimeMillis() {
        return Clock.isVirtual() ? EPOCH_MILLIS + Clock.look() / 1_000_000 : System.currentTimeMillis();
    }
}

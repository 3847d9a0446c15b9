package examiner.gvgai;

/** Plays a job; implemented against the framework, which is loaded apart from this package. */
public interface Playing {
    void play(Job job, ClassLoader agents, Outcome outcome) throws Throwable;
}

package examiner.gvgai;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Plays jobs that come as lines on standard input; each is answered by a line, parted by tabs.
 *
 * <p>The answers to a job are its token with {@code begun}, then with {@code played}, status, win, score, ticks, model
 * calls, CPU seconds, whether this process should be replaced, and a reason; or with {@code failed} and a reason.
 */
public final class Worker {
    private static final long STACK_BYTES = 256L << 20; // agents recurse
    private static final long LOOK_MILLIS = 20;
    private static final double OVER_CAP = 1.25;
    private static final double GRACE_SECONDS = 1.0;
    /** A machine that gives a play a thirtieth of its time is not busy: the play waits for something. */
    private static final double WALL_PER_CPU = 30.0;
    private static final double WALL_SECONDS = 60.0;
    private static final int LONGEST_REASON = 300;

    private static final PrintStream ANSWERS =
            new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    private static Job current;
    private static Outcome outcome;

    private Worker() {}

    /** The class path of the framework and our play, then that of agents. */
    public static void main(String[] args) throws Exception {
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        ClassLoader framework = new RewritingLoader(path(args[0]), Worker.class.getClassLoader(), "tools.");
        Playing playing = (Playing)
                framework.loadClass("examiner.gvgai.play.Play").getDeclaredConstructor().newInstance();
        URL[] agents = path(args[1] + File.pathSeparator + args[0]);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            if (outcome != null) {
                outcome.end("exited", "the process was ended by the game or the agent");
            }
            answer(true);
        }));
        BufferedReader jobs = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setIn(java.io.InputStream.nullInputStream());
        for (String line = jobs.readLine(); line != null; line = jobs.readLine()) {
            Job job = new Job(line);
            say(job.token + "\tbegun");
            if (perform(job, playing, new RewritingLoader(agents, framework, "tracks."))) {
                break;
            }
        }
        Runtime.getRuntime().halt(0); // threads that an agent left behind do not keep the process
    }

    /** Play a job and answer; whether this process has been spoilt for others. */
    private static boolean perform(Job job, Playing playing, ClassLoader agents) throws InterruptedException {
        ThreadGroup group = new ThreadGroup("play");
        Outcome told = new Outcome();
        synchronized (Worker.class) {
            current = job;
            outcome = told;
        }
        Clock.begin(job.modelCalls, job.budget, job.cpuSeconds);
        Substitutes.begin(job.seed);
        Thread thread = new Thread(group, () -> play(job, playing, agents, told), "play", STACK_BYTES);
        long begun = System.nanoTime();
        thread.start();
        while (thread.isAlive()) {
            thread.join(LOOK_MILLIS);
            double wall = (System.nanoTime() - begun) / 1e9;
            if (thread.isAlive() && isHung(job, wall)) {
                if (Clock.isCapped()) {
                    told.cap();
                } else {
                    told.end("hung", "it did not come back to its clock or model");
                }
                answer(true);
                Runtime.getRuntime().halt(0); // no thread can be ended against its will
            }
        }
        boolean spoilt = group.activeCount() > 0 || told.reason.startsWith("java.lang.OutOfMemoryError");
        answer(spoilt);
        return spoilt;
    }

    private static boolean isHung(Job job, double wallSeconds) {
        return Clock.cpuSeconds() > OVER_CAP * job.cpuSeconds + GRACE_SECONDS
                || wallSeconds > WALL_PER_CPU * job.cpuSeconds + WALL_SECONDS;
    }

    private static void play(Job job, Playing playing, ClassLoader agents, Outcome told) {
        Thread.currentThread().setContextClassLoader(agents);
        try {
            playing.play(job, agents, told);
        } catch (Ended end) {
            if (end.getMessage().equals("capped")) {
                told.cap();
            } else {
                told.end(end.getMessage(), "it called System.exit");
            }
        } catch (Throwable problem) {
            told.end("crashed", described(problem));
        }
    }

    /** An error in one line, with the place in the agent or the game where it happened. */
    public static String described(Throwable problem) {
        StackTraceElement[] places = problem.getStackTrace();
        return problem + (places.length == 0 ? "" : " at " + places[0]);
    }

    private static synchronized void answer(boolean spoilt) {
        if (current == null) {
            return; // it has been answered
        }
        Job job = current;
        current = null;
        String reason = outcome.reason.replaceAll("\\s+", " ");
        reason = reason.substring(0, Math.min(LONGEST_REASON, reason.length()));
        if (outcome.unplayable) {
            say(job.token + "\tfailed\t" + reason);
            return;
        }
        say(String.join("\t", job.token, "played", outcome.status, Double.toString(outcome.win),
                Double.toString(outcome.score), Integer.toString(outcome.ticks), Long.toString(Clock.calls()),
                Double.toString(Clock.cpuSeconds()), spoilt ? "1" : "0", reason));
    }

    private static synchronized void say(String line) {
        ANSWERS.print(line + "\n");
        ANSWERS.flush();
    }

    private static URL[] path(String text) throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        for (String entry : text.split(File.pathSeparator)) {
            if (!entry.isEmpty()) {
                urls.add(new File(entry).getAbsoluteFile().toURI().toURL());
            }
        }
        return urls.toArray(new URL[0]);
    }
}

package examiner.gvgai;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Plays jobs that come on standard input; each message is a token, a length, and as many bytes of text.
 *
 * <p>The answers to a job are {@code begun}, then {@code played}, status, win, score, ticks, model calls, CPU seconds,
 * whether this process should be replaced, and a reason; or {@code failed} and a reason. Fields are parted by tabs.
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

    private static final int TOKEN_BYTES = 16;

    private static final OutputStream ANSWERS = new FileOutputStream(FileDescriptor.out);
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
        DataInputStream jobs = new DataInputStream(System.in);
        System.setIn(java.io.InputStream.nullInputStream());
        for (byte[] token = jobs.readNBytes(TOKEN_BYTES);
                token.length == TOKEN_BYTES;
                token = jobs.readNBytes(TOKEN_BYTES)) {
            byte[] text = jobs.readNBytes((int) jobs.readLong());
            Job job = new Job(token, new String(text, StandardCharsets.UTF_8));
            say(job, "begun");
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
            say(job, "failed\t" + reason);
            return;
        }
        say(job, String.join("\t", "played", outcome.status, Double.toString(outcome.win),
                Double.toString(outcome.score), Integer.toString(outcome.ticks), Long.toString(Clock.calls()),
                Double.toString(Clock.cpuSeconds()), spoilt ? "1" : "0", reason));
    }

    private static synchronized void say(Job job, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        try {
            DataOutputStream data = new DataOutputStream(message);
            data.write(job.token);
            data.writeLong(bytes.length);
            data.write(bytes);
            ANSWERS.write(message.toByteArray());
        } catch (IOException gone) {
            throw new UncheckedIOException(gone); // nobody listens any more
        }
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

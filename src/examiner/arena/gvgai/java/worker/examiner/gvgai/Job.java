package examiner.gvgai;

/** One play: an agent's class, the files of game and level, the seed and the limits. */
public final class Job {
    static final int FIELDS = 9;

    final byte[] token;
    public final String agent;
    public final String gameFile;
    public final String levelFile;
    public final int seed;
    public final int ticks;
    public final boolean modelCalls;
    final double budget;
    final double cpuSeconds;
    /** Whether an action counts however long it took. */
    public final boolean forgiven;

    Job(byte[] name, String line) {
        String[] fields = line.split("\t", -1);
        if (fields.length != FIELDS) {
            throw new IllegalArgumentException("a job has " + FIELDS + " fields, this has " + fields.length);
        }
        token = name;
        agent = fields[0];
        gameFile = fields[1];
        levelFile = fields[2];
        seed = Integer.parseInt(fields[3]);
        ticks = Integer.parseInt(fields[4]);
        modelCalls = fields[5].equals("calls");
        budget = Double.parseDouble(fields[6]);
        cpuSeconds = Double.parseDouble(fields[7]);
        forgiven = fields[8].equals("forgiven");
    }
}

package examiner.gvgai;

/** One play: an agent's class, the files of game and level, the seed and the limits. */
public final class Job {
    static final int FIELDS = 10;

    final String token;
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

    Job(String line) {
        String[] fields = line.split("\t", -1);
        if (fields.length != FIELDS) {
            throw new IllegalArgumentException("a job has " + FIELDS + " fields, this has " + fields.length);
        }
        token = fields[0];
        agent = fields[1];
        gameFile = fields[2];
        levelFile = fields[3];
        seed = Integer.parseInt(fields[4]);
        ticks = Integer.parseInt(fields[5]);
        modelCalls = fields[6].equals("calls");
        budget = Double.parseDouble(fields[7]);
        cpuSeconds = Double.parseDouble(fields[8]);
        forgiven = fields[9].equals("forgiven");
    }
}

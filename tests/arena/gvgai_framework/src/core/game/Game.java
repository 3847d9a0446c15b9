package core.game;

import core.competition.CompetitionParameters;
import core.player.Player;
import java.util.Random;
import ontology.Types;
import tools.ElapsedCpuTimer;

/** So many ticks; going right scores a number drawn below a value, and a positive score at the end is a win. */
public class Game {
    private final int length;
    private final int value;
    private Random random = new Random();
    private Types.WINNER winner = Types.WINNER.NO_WINNER;
    private boolean over;
    private int tick = -1;
    private double score;

    public Game(int length, int value) {
        this.length = length;
        this.value = value;
    }

    public void buildLevel(String file, int seed) {}

    public double getScore() {
        return score;
    }

    public int getGameTick() {
        return tick;
    }

    public Types.WINNER getWinner() {
        return winner;
    }

    public Object getAvatar() {
        return this;
    }

    public StateObservation getObservation() {
        return new StateObservation(new ForwardModel(tick, score), 0);
    }

    public void abort() {
        over = true;
    }

    public double[] runGame(Player[] players, int seed) {
        random = new Random(seed);
        while (!over) {
            tick++;
            ElapsedCpuTimer timer = new ElapsedCpuTimer();
            timer.setMaxTimeMillis(CompetitionParameters.ACTION_TIME);
            Types.ACTIONS action = players[0].act(getObservation(), timer.copy());
            if (timer.elapsedMillis() > CompetitionParameters.ACTION_TIME_DISQ) {
                winner = Types.WINNER.PLAYER_DISQ;
                return new double[] {-1000};
            }
            if (action == Types.ACTIONS.ACTION_RIGHT) {
                score += random.nextInt(value);
            }
            if (tick + 1 >= length && !over) {
                over = true;
                winner = score > 0 ? Types.WINNER.PLAYER_WINS : Types.WINNER.PLAYER_LOSES;
            }
        }
        return new double[] {score};
    }
}

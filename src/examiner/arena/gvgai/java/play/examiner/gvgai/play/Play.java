package examiner.gvgai.play;

import core.competition.CompetitionParameters;
import core.game.Game;
import core.game.StateObservation;
import core.logging.Logger;
import core.player.AbstractPlayer;
import core.player.Player;
import core.vgdl.VGDLFactory;
import core.vgdl.VGDLParser;
import core.vgdl.VGDLRegistry;
import examiner.gvgai.Clock;
import examiner.gvgai.Job;
import examiner.gvgai.Outcome;
import examiner.gvgai.Playing;
import examiner.gvgai.Worker;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import ontology.Types;
import tools.ElapsedCpuTimer;

/** One play of the framework: a game is built, an agent made, and the framework's own loop plays it. */
public final class Play implements Playing {
    private static final int WARM_UP_CALLS = 1000;

    public Play() {
        Types.WINNER.values(); // draws numbers when it is first used: not those of a play
        Types.RANDOM.getRed();
    }

    @Override
    public void play(Job job, ClassLoader agents, Outcome outcome) throws Throwable {
        Game game = built(job, outcome);
        Constructor<?> constructor = constructor(job, agents, outcome);
        if (game == null || constructor == null) {
            return;
        }
        outcome.standing = new Outcome.Standing() {
            @Override
            public double score() {
                return game.getScore();
            }

            @Override
            public int ticks() {
                return game.getGameTick();
            }
        };
        if (!job.modelCalls) {
            warmUp(game);
        }
        AbstractPlayer agent = agent(constructor, game);
        if (agent == null) {
            outcome.end("disqualified", "it took longer to begin than the second it has");
            return;
        }
        game.runGame(new Player[] {new Controller(agent, game, job)}, job.seed);
        tell(game, outcome, job.ticks);
        bidFarewell(agent, game);
    }

    /** Tell the agent how it ended, as the framework does; what it makes of it changes nothing any more. */
    private static void bidFarewell(AbstractPlayer agent, Game game) {
        try {
            agent.result(CountedState.of(game.getObservation()), limited(CompetitionParameters.TEAR_DOWN_TIME));
        } catch (Throwable tooLate) {
            return;
        }
    }

    private static Game built(Job job, Outcome outcome) {
        // What an earlier game left behind: its sprites, its keys, and the warnings after which a game is ended.
        VGDLFactory.GetInstance().init();
        VGDLRegistry.GetInstance().init();
        CompetitionParameters.KEY_HANDLER = CompetitionParameters.KEY_INPUT;
        Logger.getInstance().flushMessages();
        try {
            Game game = new VGDLParser().parseGame(job.gameFile);
            game.buildLevel(job.levelFile, job.seed);
            return game;
        } catch (RuntimeException problem) {
            outcome.unplayable = true;
            outcome.reason = "the game cannot be built: " + Worker.described(problem);
            return null;
        }
    }

    private static Constructor<?> constructor(Job job, ClassLoader agents, Outcome outcome) {
        try {
            Class<? extends AbstractPlayer> found = agents.loadClass(job.agent).asSubclass(AbstractPlayer.class);
            return found.getConstructor(StateObservation.class, ElapsedCpuTimer.class);
        } catch (ReflectiveOperationException | ClassCastException | LinkageError problem) {
            outcome.unplayable = true;
            outcome.reason = "the agent cannot be made: " + problem;
            return null;
        }
    }

    private static AbstractPlayer agent(Constructor<?> constructor, Game game) throws Throwable {
        ElapsedCpuTimer timer = limited(CompetitionParameters.INITIALIZATION_TIME);
        try {
            Object made = constructor.newInstance(CountedState.of(game.getObservation()), timer.copy());
            return timer.exceededMaxTime() ? null : (AbstractPlayer) made;
        } catch (InvocationTargetException problem) {
            throw problem.getCause();
        }
    }

    private static ElapsedCpuTimer limited(int millis) {
        ElapsedCpuTimer timer = new ElapsedCpuTimer();
        timer.setMaxTimeMillis(millis);
        return timer;
    }

    /** Let the compiler see the game first, as the framework does: milliseconds then buy what they usually buy. */
    private static void warmUp(Game game) {
        StateObservation state = game.getObservation();
        for (int call = 0; call < WARM_UP_CALLS; call++) {
            Clock.checkNow();
            if (state.isGameOver() || state.getAvailableActions().isEmpty()) {
                state = game.getObservation();
            }
            if (!state.getAvailableActions().isEmpty()) {
                state.advance(state.getAvailableActions().get(call % state.getAvailableActions().size()));
            }
        }
    }

    private static void tell(Game game, Outcome outcome, int mostTicks) {
        outcome.ticks = Math.max(0, game.getGameTick());
        if (game.getAvatar() == null) {
            outcome.end("undecided", "the game lost its avatar");
            return;
        }
        Types.WINNER winner = game.getWinner();
        if (winner == Types.WINNER.PLAYER_DISQ) {
            outcome.end("disqualified", "an action took longer than the framework allows");
            return;
        }
        outcome.score = game.getScore();
        if (winner == Types.WINNER.NO_WINNER && outcome.ticks < mostTicks) {
            outcome.status = "undecided";
            outcome.reason = "the framework ended the game without a winner";
        } else {
            outcome.win = winner == Types.WINNER.PLAYER_WINS ? 1.0 : 0.0;
        }
    }
}

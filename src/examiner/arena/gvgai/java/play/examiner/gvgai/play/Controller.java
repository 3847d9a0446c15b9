package examiner.gvgai.play;

import core.game.Game;
import core.game.StateObservation;
import core.player.AbstractPlayer;
import examiner.gvgai.Clock;
import examiner.gvgai.Job;
import ontology.Types;
import tools.ElapsedCpuTimer;

/** Stands between the game and an agent: hands on what is counted, and ends the play when it is time. */
final class Controller extends AbstractPlayer {
    private final AbstractPlayer agent;
    private final Game game;
    private final Job job;

    Controller(AbstractPlayer agent, Game game, Job job) {
        this.agent = agent;
        this.game = game;
        this.job = job;
    }

    @Override
    public Types.ACTIONS act(StateObservation seen, ElapsedCpuTimer timer) {
        Clock.checkNow();
        if (game.getGameTick() >= job.ticks) {
            game.abort();
            return Types.ACTIONS.ACTION_NIL;
        }
        double begun = Clock.now();
        try {
            Types.ACTIONS action = agent.act(CountedState.of(seen), timer);
            if (job.forgiven) {
                Clock.forgive(begun);
            }
            return action;
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}

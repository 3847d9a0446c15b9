package examiner.gvgai.play;

import core.game.Game;
import core.game.StateObservation;
import core.player.AbstractPlayer;
import examiner.gvgai.Clock;
import ontology.Types;
import tools.ElapsedCpuTimer;

/** Stands between the game and an agent: hands on what is counted, and ends the play when it is time. */
final class Controller extends AbstractPlayer {
    private final AbstractPlayer agent;
    private final Game game;
    private final int ticks;

    Controller(AbstractPlayer agent, Game game, int ticks) {
        this.agent = agent;
        this.game = game;
        this.ticks = ticks;
    }

    @Override
    public Types.ACTIONS act(StateObservation seen, ElapsedCpuTimer timer) {
        Clock.checkNow();
        if (game.getGameTick() >= ticks) {
            game.abort();
            return Types.ACTIONS.ACTION_NIL;
        }
        try {
            return agent.act(CountedState.of(seen), timer);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}

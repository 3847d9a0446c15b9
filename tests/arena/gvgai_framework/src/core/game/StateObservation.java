package core.game;

import java.util.ArrayList;
import java.util.List;
import ontology.Types;

public class StateObservation {
    protected ForwardModel model;

    public StateObservation(ForwardModel model, int player) {
        this.model = model;
    }

    public StateObservation copy() {
        return new StateObservation(model.copy(), 0);
    }

    public void advance(Types.ACTIONS action) {
        model.advance();
    }

    public double getGameScore() {
        return model.score;
    }

    public boolean isGameOver() {
        return false;
    }

    public ArrayList<Types.ACTIONS> getAvailableActions() {
        return new ArrayList<>(List.of(Types.ACTIONS.ACTION_LEFT, Types.ACTIONS.ACTION_RIGHT));
    }
}

package examiner.gvgai.play;

import core.game.ForwardModel;
import core.game.StateObservation;
import examiner.gvgai.Clock;
import java.lang.reflect.Field;
import ontology.Types;

/** What an agent sees, and tries actions on: every call of the model takes its time. */
final class CountedState extends StateObservation {
    private static final Field MODEL = model();

    private CountedState(ForwardModel model) {
        super(model, 0);
    }

    static CountedState of(StateObservation seen) throws IllegalAccessException {
        return new CountedState((ForwardModel) MODEL.get(seen));
    }

    @Override
    public StateObservation copy() {
        Clock.copy();
        return new CountedState(model.copy());
    }

    @Override
    public void advance(Types.ACTIONS action) {
        Clock.call();
        super.advance(action);
    }

    private static Field model() {
        try {
            Field field = StateObservation.class.getDeclaredField("model");
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException changed) {
            throw new IllegalStateException("StateObservation of this checkout keeps no model", changed);
        }
    }
}

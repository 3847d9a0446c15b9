package misbehaving;

import core.game.StateObservation;
import core.player.AbstractPlayer;
import java.io.File;
import java.io.IOException;
import ontology.Types;
import tools.ElapsedCpuTimer;

/** Each nested class goes wrong in its own way, from the third tick on. */
public class Agent {
    private Agent() {}

    abstract static class Wrong extends AbstractPlayer {
        private int acts;

        @Override
        public Types.ACTIONS act(StateObservation seen, ElapsedCpuTimer timer) {
            System.out.println("junk\tplayed\tfinished");
            acts++;
            if (acts > 2) {
                goWrong(seen, timer);
            }
            return Types.ACTIONS.ACTION_RIGHT;
        }

        abstract void goWrong(StateObservation seen, ElapsedCpuTimer timer);
    }

    public static class Crashes extends Wrong {
        public Crashes(StateObservation seen, ElapsedCpuTimer timer) {}

        @Override
        void goWrong(StateObservation seen, ElapsedCpuTimer timer) {
            throw new IllegalStateException("no\tplan");
        }
    }

    public static class CannotBegin extends Wrong {
        public CannotBegin(StateObservation seen, ElapsedCpuTimer timer) {
            throw new UnsupportedOperationException("not today");
        }

        @Override
        void goWrong(StateObservation seen, ElapsedCpuTimer timer) {}
    }

    public static class Exits extends Wrong {
        public Exits(StateObservation seen, ElapsedCpuTimer timer) {}

        @Override
        void goWrong(StateObservation seen, ElapsedCpuTimer timer) {
            System.exit(0);
        }
    }

    public static class Hangs extends Wrong {
        public volatile long spins;

        public Hangs(StateObservation seen, ElapsedCpuTimer timer) {}

        @Override
        void goWrong(StateObservation seen, ElapsedCpuTimer timer) {
            while (true) {
                spins++;
            }
        }
    }

    /** Never advances the model, and waits for its time to be over. */
    public static class OnlyLooks extends Wrong {
        public OnlyLooks(StateObservation seen, ElapsedCpuTimer timer) {}

        @Override
        void goWrong(StateObservation seen, ElapsedCpuTimer timer) {
            while (timer.remainingTimeMillis() > 2) {
                seen.getGameScore();
            }
        }
    }

    public static class Overspends extends Wrong {
        public Overspends(StateObservation seen, ElapsedCpuTimer timer) {}

        @Override
        void goWrong(StateObservation seen, ElapsedCpuTimer timer) {
            for (int call = 0; call < 80; call++) {
                seen.advance(Types.ACTIONS.ACTION_LEFT);
            }
        }
    }

    public static class NeverStops extends Wrong {
        public NeverStops(StateObservation seen, ElapsedCpuTimer timer) {}

        @Override
        void goWrong(StateObservation seen, ElapsedCpuTimer timer) {
            while (true) {
                seen.copy().advance(Types.ACTIONS.ACTION_LEFT);
            }
        }
    }

    /** Ends the process past all hooks; only the first time where a file can be made. */
    public static class Halts extends Wrong {
        public Halts(StateObservation seen, ElapsedCpuTimer timer) {}

        @Override
        void goWrong(StateObservation seen, ElapsedCpuTimer timer) {
            String mark = System.getenv("HALTS_ONCE");
            try {
                if (mark == null || new File(mark).createNewFile()) {
                    Runtime.getRuntime().halt(3);
                }
            } catch (IOException problem) {
                throw new IllegalStateException(problem);
            }
        }
    }

    /** Tries actions until its time is up; what it saw last decides. */
    public static class Searches extends AbstractPlayer {
        public Searches(StateObservation seen, ElapsedCpuTimer timer) {}

        @Override
        public Types.ACTIONS act(StateObservation seen, ElapsedCpuTimer timer) {
            double best = 0;
            while (timer.remainingTimeMillis() > 2) {
                StateObservation tried = seen.copy();
                tried.advance(Types.ACTIONS.ACTION_LEFT);
                best = Math.max(best, tried.getGameScore() - seen.getGameScore());
            }
            return best > 8 ? Types.ACTIONS.ACTION_RIGHT : Types.ACTIONS.ACTION_LEFT;
        }
    }
}

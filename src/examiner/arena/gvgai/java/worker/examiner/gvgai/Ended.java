package examiner.gvgai;

/** Ends a play from within; no exception, so that agents which catch all exceptions let it through. */
public final class Ended extends Error {
    private static final long serialVersionUID = 1L;

    public Ended(String status) {
        super(status, null, false, false);
    }
}

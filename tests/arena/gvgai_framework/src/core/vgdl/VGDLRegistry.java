package core.vgdl;

public class VGDLRegistry {
    public static VGDLRegistry GetInstance() {
        return new VGDLRegistry();
    }

    public void init() {}
}

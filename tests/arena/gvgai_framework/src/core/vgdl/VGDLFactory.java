package core.vgdl;

public class VGDLFactory {
    public static VGDLFactory GetInstance() {
        return new VGDLFactory();
    }

    public void init() {}
}

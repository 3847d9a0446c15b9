package examiner.gvgai;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Loads classes rewritten; those whose name begins with {@code own} before any that its parent has. */
final class RewritingLoader extends URLClassLoader {
    private static final Map<String, byte[]> REWRITTEN = new ConcurrentHashMap<>();

    private final String own;

    RewritingLoader(URL[] path, ClassLoader parent, String own) {
        super(path, parent);
        this.own = own;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            if (name.startsWith(own) && findLoadedClass(name) == null) {
                try {
                    return findClass(name);
                } catch (ClassNotFoundException elsewhere) {
                    return super.loadClass(name, resolve);
                }
            }
            return super.loadClass(name, resolve);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        URL found = findResource(name.replace('.', '/') + ".class");
        if (found == null) {
            throw new ClassNotFoundException(name);
        }
        byte[] bytes = REWRITTEN.computeIfAbsent(found.toString(), url -> Rewriter.rewritten(content(found)));
        return defineClass(name, bytes, 0, bytes.length);
    }

    private static byte[] content(URL url) {
        try (InputStream stream = url.openStream()) {
            return stream.readAllBytes();
        } catch (IOException problem) {
            throw new IllegalStateException(problem);
        }
    }
}

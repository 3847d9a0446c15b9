package examiner.gvgai;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Points calls in a class file to {@link Substitutes}, and {@code new Random()} to {@link PlayRandom}.
 *
 * <p>The class file format is that of the Java Virtual Machine Specification, chapter 4. Names are added to the
 * constant pool; static calls get another class, and {@code new} another operand, found by stepping through the code
 * (chapter 6 has the lengths of instructions). Nothing changes its length but the pool.
 */
final class Rewriter {
    private static final String RANDOM = "java/util/Random";
    private static final String SUBSTITUTES = "examiner/gvgai/Substitutes";
    private static final Map<String, String> STATIC_CALLS = Map.of(
            "java/lang/Math.random()D", SUBSTITUTES,
            "java/lang/System.exit(I)V", SUBSTITUTES,
            "java/lang/System.nanoTime()J", SUBSTITUTES,
            "java/lang/System.currentTimeMillis()J", SUBSTITUTES,
            "java/util/Collections.shuffle(Ljava/util/List;)V", SUBSTITUTES);

    private static final int UTF8 = 1;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int METHOD = 10;
    private static final int NEW = 0xbb;
    private static final int TABLE_SWITCH = 0xaa;
    private static final int LOOKUP_SWITCH = 0xab;
    private static final int WIDE = 0xc4;
    private static final int WIDE_IINC = 0x84;
    /** Length of each instruction from 0x00 on, by its opcode; 0 where it is computed. */
    private static final String LENGTHS =
            "1111111111111111" + "2323322222111111" + "1111111111111111" + "1111112222211111"
                    + "1111111111111111" + "1111111111111111" + "1111111111111111" + "1111111111111111"
                    + "1111311111111111" + "1111111113333333" + "3333333332001111" + "1133333335532311"
                    + "3311043355";

    private final byte[] source;
    private final int count;
    private final int[] offsets; // of each constant's tag
    private final int poolEnd;
    private final ByteBuffer bytes;
    private final ByteArrayOutputStream added = new ByteArrayOutputStream();
    private int next;

    private Rewriter(byte[] source) {
        this.source = source.clone();
        bytes = ByteBuffer.wrap(this.source);
        count = bytes.getChar(8);
        offsets = new int[count];
        int at = 10;
        for (int index = 1; index < count; index++) {
            offsets[index] = at;
            int tag = source[at];
            at += lengthOfConstant(tag, at);
            if (tag == LONG || tag == DOUBLE) {
                index++;
            }
        }
        poolEnd = at;
        next = count;
    }

    /** The class with its chance, time and exits replaced; the same bytes where it has none. */
    static byte[] rewritten(byte[] source) {
        try {
            return new Rewriter(source).rewrite();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private byte[] rewrite() throws IOException {
        int superClass = bytes.getChar(poolEnd + 4);
        boolean isRandom = superClass != 0 && RANDOM.equals(className(superClass));
        int random = 0;
        for (int index = 1; index < count; index++) {
            if (offsets[index] == 0 || source[offsets[index]] != METHOD) {
                continue;
            }
            String owner = className(bytes.getChar(offsets[index] + 1));
            int nameAndType = offsets[bytes.getChar(offsets[index] + 3)];
            String name = text(bytes.getChar(nameAndType + 1));
            String substitute = STATIC_CALLS.get(owner + "." + name + text(bytes.getChar(nameAndType + 3)));
            if (substitute != null) {
                bytes.putChar(offsets[index] + 1, (char) addedClass(substitute));
            } else if (owner.equals(RANDOM) && name.equals("<init>") && !isRandom) {
                random = random == 0 ? addedClass("examiner/gvgai/PlayRandom") : random;
                bytes.putChar(offsets[index] + 1, (char) random);
            }
        }
        if (next == count) {
            return source;
        }
        if (random != 0) {
            replaceNew(random);
        }
        ByteArrayOutputStream result = new ByteArrayOutputStream(source.length + added.size());
        bytes.putChar(8, (char) next);
        result.write(source, 0, poolEnd);
        added.writeTo(result);
        result.write(source, poolEnd, source.length - poolEnd);
        return result.toByteArray();
    }

    private int lengthOfConstant(int tag, int at) {
        switch (tag) {
            case UTF8:
                return 3 + bytes.getChar(at + 1);
            case LONG:
            case DOUBLE:
            case 3:
            case 4:
            case 9:
            case METHOD:
            case 11:
            case 12:
            case 17:
            case 18:
                return tag == LONG || tag == DOUBLE ? 9 : 5;
            case 15:
                return 4;
            default:
                return 3;
        }
    }

    private String className(int index) {
        return text(bytes.getChar(offsets[index] + 1));
    }

    private String text(int index) {
        try {
            int at = offsets[index] + 1;
            return new DataInputStream(new ByteArrayInputStream(source, at, source.length - at)).readUTF();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private int addedClass(String name) throws IOException {
        DataOutputStream out = new DataOutputStream(added);
        out.writeByte(UTF8);
        out.writeUTF(name);
        out.writeByte(CLASS);
        out.writeShort(next);
        next += 2;
        return next - 1;
    }

    private void replaceNew(int random) {
        for (int[] code : codes()) {
            for (int at = code[0]; at < code[1]; at += lengthOfInstruction(at, code[0])) {
                if ((source[at] & 0xff) == NEW && RANDOM.equals(className(bytes.getChar(at + 1)))) {
                    bytes.putChar(at + 1, (char) random);
                }
            }
        }
    }

    /** Where the code of each method begins and ends. */
    private List<int[]> codes() {
        List<int[]> found = new ArrayList<>();
        int at = poolEnd + 6;
        at += 2 + 2 * bytes.getChar(at); // interfaces
        for (int kind = 0; kind < 2; kind++) { // fields, then methods
            int members = bytes.getChar(at);
            at += 2;
            for (int member = 0; member < members; member++) {
                int attributes = bytes.getChar(at + 6);
                at += 8;
                for (int attribute = 0; attribute < attributes; attribute++) {
                    if (text(bytes.getChar(at)).equals("Code")) {
                        found.add(new int[] {at + 14, at + 14 + bytes.getInt(at + 10)});
                    }
                    at += 6 + bytes.getInt(at + 2);
                }
            }
        }
        return found;
    }

    private int lengthOfInstruction(int at, int begin) {
        int opcode = source[at] & 0xff;
        int operands = at + 4 - (at - begin) % 4; // switches are padded to fours
        switch (opcode) {
            case TABLE_SWITCH:
                return operands + 12 + 4 * (bytes.getInt(operands + 8) - bytes.getInt(operands + 4) + 1) - at;
            case LOOKUP_SWITCH:
                return operands + 8 + 8 * bytes.getInt(operands + 4) - at;
            case WIDE:
                return (source[at + 1] & 0xff) == WIDE_IINC ? 6 : 4;
            default:
                return LENGTHS.charAt(opcode) - '0';
        }
    }
}

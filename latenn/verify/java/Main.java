import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The Java consumer that latebind verify runs: ONNX's node tests through the JARs.
 *
 * <p>Main CASES RESULT.json [--sample N] [--runtime NAME] [--runtime-path P] [--runtime-minimum V]
 */
public final class Main {
  private static final int FLOAT32 = 1;
  private static final int FLOAT64 = 11;
  /** Numbers that Java has: latenn's uint8 to int64, bool, float64, uint32, uint64. */
  private static final Set<Integer> COMPARABLE = Set.of(FLOAT32, 2, 3, 4, 5, 6, 7, 9, FLOAT64, 12, 13);
  private static final Set<Integer> ENDS = Set.of(
      Latenn.BACKEND_MISSING, Latenn.BACKEND_UNUSABLE, Latenn.RUNTIME_UNAVAILABLE);

  private static final String BACKEND_ADVICE = ". Get it from Maven io.github.latebind:latenn-onnxruntime";

  private final Map<String, String> words = new HashMap<>();
  private final List<String> passed = new ArrayList<>();
  private final Map<String, String> failed = new TreeMap<>();
  private final Map<String, String> skipped = new TreeMap<>();
  private String report;

  public static void main(String[] arguments) throws Throwable {
    System.exit(new Main().verify(arguments));
  }

  private int verify(String[] arguments) throws Throwable {
    for (int index = 2; index + 1 < arguments.length; index += 2) {
      words.put(arguments[index], arguments[index + 1]);
    }
    List<Cases.Case> all = Cases.read(Path.of(arguments[0]));
    int sample = Integer.parseInt(words.getOrDefault("--sample", "0"));
    int count = sample > 0 ? Math.min(sample, all.size()) : all.size();
    String error = null;
    try {
      Path folder = findBackend();
      Latenn latenn = new Latenn();
      for (int index = 0; index < count; index++) {
        run(latenn, folder, all.get((int) ((long) index * all.size() / count)));
      }
    } catch (Latenn.Failure failure) {
      error = failure.getMessage();
    }
    Files.writeString(Path.of(arguments[1]), result(error));
    return error != null ? 3 : failed.isEmpty() ? 0 : 1;
  }

  /** The folder of the backend's JAR, if that is on the class path. */
  private static Path findBackend() throws ReflectiveOperationException {
    try {
      Class<?> library = Class.forName("io.github.latebind.latenn_onnxruntime.NativeLibrary");
      return ((Path) library.getMethod("path").invoke(null)).getParent();
    } catch (ClassNotFoundException error) {
      return null;
    }
  }

  private void run(Latenn latenn, Path folder, Cases.Case one) throws Throwable {
    Latenn.Model model;
    try {
      model = latenn.load(
          one.model(), words.get("--runtime"), folder, words.get("--runtime-path"), words.get("--runtime-minimum"),
          !words.containsKey("--sample"));  // threads of its own for each of 1,300 sessions are a third of all work
    } catch (Latenn.Failure failure) {
      if (ENDS.contains(failure.code)) {
        boolean missing = failure.code == Latenn.BACKEND_MISSING;
        throw new Latenn.Failure(failure.code, failure.getMessage() + (missing ? BACKEND_ADVICE : ""));
      }
      failed.put(one.name(), failure.getMessage());
      return;
    }
    report = model.report();
    try (Arena results = Arena.ofConfined()) {
      String problem = one.samples().isEmpty() ? "the case has no set of inputs" : null;
      for (Cases.Sample sample : one.samples()) {
        if (!isComparable(sample)) {
          skipped.put(one.name(), "a type that Java has no numbers for");
          return;
        }
        problem = problem == null ? compare(latenn, model, one, sample, results) : problem;
      }
      if (problem == null) {
        passed.add(one.name());
      } else {
        failed.put(one.name(), problem);
      }
    } catch (Latenn.Failure failure) {
      failed.put(one.name(), failure.getMessage());
    } finally {
      latenn.release(model);
    }
  }

  private static boolean isComparable(Cases.Sample sample) {
    return List.of(sample.inputs(), sample.outputs()).stream().flatMap(List::stream)
        .allMatch(one -> COMPARABLE.contains(one.tensor().type()));
  }

  private static String compare(
      Latenn latenn, Latenn.Model model, Cases.Case one, Cases.Sample sample, Arena results) throws Throwable {
    List<Latenn.Tensor> computed = latenn.run(
        model, sample.inputs().stream().map(Cases.Named::name).toList(),
        sample.inputs().stream().map(Cases.Named::tensor).toList(),
        sample.outputs().stream().map(Cases.Named::name).toList(), results);
    for (int index = 0; index < computed.size(); index++) {
      String problem = difference(one, computed.get(index), sample.outputs().get(index).tensor());
      if (problem != null) {
        return problem;
      }
    }
    return null;
  }

  /** Where two tensors differ, by the rule of NumPy's assert_allclose; null where they agree. */
  private static String difference(Cases.Case one, Latenn.Tensor got, Latenn.Tensor want) {
    if (got.type() != want.type() || !Arrays.equals(got.shape(), want.shape())
        || got.data().byteSize() != want.data().byteSize()) {
      return "another type or shape than expected: type " + got.type() + " " + Arrays.toString(got.shape())
          + ", not type " + want.type() + " " + Arrays.toString(want.shape());
    }
    boolean single = want.type() == FLOAT32;
    if (!single && want.type() != FLOAT64) {
      return got.data().mismatch(want.data()) < 0 ? null : "other values than expected";
    }
    for (long index = 0; index < want.data().byteSize() / (single ? 4 : 8); index++) {
      double mine = single ? got.data().getAtIndex(JAVA_FLOAT, index) : got.data().getAtIndex(JAVA_DOUBLE, index);
      double theirs = single ? want.data().getAtIndex(JAVA_FLOAT, index) : want.data().getAtIndex(JAVA_DOUBLE, index);
      boolean equal = Double.isNaN(theirs) ? Double.isNaN(mine) : mine == theirs;
      boolean near = !Double.isInfinite(theirs) && Math.abs(mine - theirs) <= one.absolute() + one.relative() * Math.abs(theirs);
      if (!equal && !near) {
        return "element " + index + " is " + mine + " instead of " + theirs;
      }
    }
    return null;
  }

  /** The mapped files of latenn and the runtime; nothing without /proc. */
  private static Set<String> libraries() throws IOException {
    Set<String> files = new TreeSet<>();
    Path maps = Path.of("/proc/self/maps");
    for (String line : Files.isReadable(maps) ? Files.readAllLines(maps) : List.<String>of()) {
      int slash = line.indexOf('/');
      String file = slash < 0 ? "" : line.substring(slash);
      String name = file.substring(file.lastIndexOf('/') + 1);
      if (name.contains(".so") && (name.contains("latenn") || name.contains("onnxruntime"))) {
        files.add(file);
      }
    }
    return files;
  }

  private String result(String error) throws IOException {
    String failures = String.join(",", failed.entrySet().stream()
        .map(one -> "{\"name\":" + quote(one.getKey()) + ",\"message\":" + quote(one.getValue()) + "}").toList());
    String out = String.join(",", skipped.entrySet().stream()
        .map(one -> quote(one.getKey()) + ":" + quote(one.getValue())).toList());
    return "{\"report\":" + (report == null ? "null" : report) + ",\"passed\":" + quoted(passed) + ",\"failed\":["
        + failures + "],\"out_of_scope\":{" + out + "},\"libraries\":" + quoted(libraries())
        + (error == null ? "" : ",\"error\":{\"message\":" + quote(error) + "}") + "}\n";
  }

  private static String quoted(Iterable<String> texts) {
    List<String> parts = new ArrayList<>();
    texts.forEach(text -> parts.add(quote(text)));
    return "[" + String.join(",", parts) + "]";
  }

  private static String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char letter : text.toCharArray()) {
      if (letter == '"' || letter == '\\') {
        out.append('\\').append(letter);
      } else if (letter < ' ') {
        out.append(String.format("\\u%04x", (int) letter));
      } else {
        out.append(letter);
      }
    }
    return out.append('"').toString();
  }
}

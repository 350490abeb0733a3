import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/** Reads cases.txt and cases.bin; case_files.py says what they hold. */
final class Cases {
  /** A tensor and its name in the model. */
  record Named(String name, Latenn.Tensor tensor) {}

  /** Inputs, and what must come out. */
  record Sample(List<Named> inputs, List<Named> outputs) {}

  /** A model, the tolerance of its outputs, and what it is tried with. */
  record Case(String name, double relative, double absolute, MemorySegment model, List<Sample> samples) {}

  private final MemorySegment data;
  private final Scanner words;

  private Cases(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder.resolve("cases.bin"))) {
      data = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.global());
    }
    words = new Scanner(Files.readString(folder.resolve("cases.txt")));
  }

  static List<Case> read(Path folder) throws IOException {
    return new Cases(folder).readAll();
  }

  private List<Case> readAll() {
    List<Case> cases = new ArrayList<>();
    while (words.hasNext()) {
      switch (words.next()) {
        case "case" -> cases.add(new Case(words.next(), Double.parseDouble(words.next()),
            Double.parseDouble(words.next()), bytes(words.nextLong(), words.nextLong()), new ArrayList<>()));
        case "set" -> cases.getLast().samples().add(new Sample(new ArrayList<>(), new ArrayList<>()));
        case "input" -> cases.getLast().samples().getLast().inputs().add(tensor());
        default -> cases.getLast().samples().getLast().outputs().add(tensor());
      }
    }
    return cases;
  }

  private Named tensor() {
    String name = words.next();
    int type = words.nextInt();
    MemorySegment bytes = bytes(words.nextLong(), words.nextLong());
    long[] shape = new long[words.nextInt()];
    for (int index = 0; index < shape.length; index++) {
      shape[index] = words.nextLong();
    }
    return new Named(name, new Latenn.Tensor(type, shape, bytes));
  }

  /** A copy, since a model's data may begin anywhere and numbers must be aligned. */
  private MemorySegment bytes(long offset, long size) {
    MemorySegment copy = Arena.global().allocate(Math.max(size, 1), 16).asSlice(0, size);
    return copy.copyFrom(data.asSlice(offset, size));
  }
}

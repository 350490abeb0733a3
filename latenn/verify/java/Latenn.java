import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What this program needs of latenn.h. */
final class Latenn {
  /** A tensor whose data is in native memory. */
  record Tensor(int type, long[] shape, MemorySegment data) {}

  /** A model and the report of its runtime. */
  record Model(MemorySegment handle, String report) {}

  /** An error of latenn. */
  static final class Failure extends Exception {
    final int code;

    Failure(int code, String message) {
      super(message);
      this.code = code;
    }
  }

  static final int BACKEND_MISSING = 2;
  static final int BACKEND_UNUSABLE = 3;
  static final int RUNTIME_UNAVAILABLE = 4;

  private static final MemoryLayout TENSOR = MemoryLayout.structLayout(
      JAVA_INT.withName("type"), JAVA_INT.withName("rank"), ADDRESS.withName("shape"), ADDRESS.withName("data"),
      JAVA_LONG.withName("bytes"), ADDRESS.withName("offsets"));
  private static final long OPTIONS_SIZE = 8 * 18;
  private static final String ADVICE = "com.microsoft.onnxruntime:onnxruntime from Maven Central";

  private final Arena arena = Arena.global();
  private final SymbolLookup symbols;
  private final MethodHandle message;
  private final MethodHandle code;
  private final MethodHandle releaseStatus;
  private final MethodHandle loadBytes;
  private final MethodHandle report;
  private final MethodHandle releaseModel;
  private final MethodHandle createContext;
  private final MethodHandle releaseContext;
  private final MethodHandle setInput;
  private final MethodHandle compute;
  private final MethodHandle getOutput;

  Latenn() {
    io.github.latebind.latenn.NativeLibrary.load();
    symbols = SymbolLookup.loaderLookup();
    message = function("latenn_status_message", FunctionDescriptor.of(ADDRESS, ADDRESS));
    code = function("latenn_status_code", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    releaseStatus = function("latenn_status_release", FunctionDescriptor.ofVoid(ADDRESS));
    loadBytes = function("latenn_load_bytes", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));
    report = function("latenn_model_report", FunctionDescriptor.of(ADDRESS, ADDRESS));
    releaseModel = function("latenn_model_release", FunctionDescriptor.ofVoid(ADDRESS));
    createContext = function("latenn_context_create", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));
    releaseContext = function("latenn_context_release", FunctionDescriptor.ofVoid(ADDRESS));
    setInput = function("latenn_set_input_by_name", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, ADDRESS));
    compute = function("latenn_compute", FunctionDescriptor.of(ADDRESS, ADDRESS));
    getOutput = function("latenn_get_output_by_name", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  private MethodHandle function(String name, FunctionDescriptor type) {
    return Linker.nativeLinker().downcallHandle(symbols.find(name).orElseThrow(), type);
  }

  /** Load a model; null stands for latenn's own choice. With one thread, it is computed on the caller's alone. */
  Model load(
      MemorySegment model, String backend, Path backendFolder, String runtimePath, String minimum, boolean oneThread)
      throws Throwable {
    try (Arena call = Arena.ofConfined()) {
      MemorySegment options = call.allocate(OPTIONS_SIZE, 8);
      options.set(JAVA_INT, 0, (int) OPTIONS_SIZE);
      options.set(ADDRESS, 8, text(call, backend));
      if (backendFolder != null) {
        options.set(ADDRESS, 24, call.allocateFrom(ADDRESS, text(call, backendFolder.toString())));
        options.set(JAVA_LONG, 32, 1);
      }
      options.set(ADDRESS, 40, text(call, runtimePath));
      options.set(ADDRESS, 64, text(call, minimum));
      options.set(ADDRESS, 72, text(call, ADVICE));
      if (oneThread) {
        MemorySegment option = call.allocate(ADDRESS, 2);
        option.setAtIndex(ADDRESS, 0, text(call, "intra_op_num_threads"));
        option.setAtIndex(ADDRESS, 1, text(call, "1"));
        options.set(ADDRESS, 80, option);
        options.set(JAVA_LONG, 88, 1);
      }
      MemorySegment result = call.allocate(ADDRESS);
      check((MemorySegment) loadBytes.invokeExact(model, model.byteSize(), options, result));
      MemorySegment handle = result.get(ADDRESS, 0);
      return new Model(handle, read((MemorySegment) report.invokeExact(handle)));
    }
  }

  void release(Model model) throws Throwable {
    releaseModel.invokeExact(model.handle());
  }

  /** Compute outputs, which are copied to an arena. */
  List<Tensor> run(Model model, List<String> names, List<Tensor> inputs, List<String> outputs, Arena results)
      throws Throwable {
    try (Arena call = Arena.ofConfined()) {
      MemorySegment place = call.allocate(ADDRESS);
      check((MemorySegment) createContext.invokeExact(model.handle(), place));
      MemorySegment context = place.get(ADDRESS, 0);
      try {
        for (int index = 0; index < names.size(); index++) {
          MemorySegment tensor = write(inputs.get(index), call);
          check((MemorySegment) setInput.invokeExact(context, text(call, names.get(index)), tensor));
        }
        check((MemorySegment) compute.invokeExact(context));
        List<Tensor> computed = new ArrayList<>();
        for (String name : outputs) {
          MemorySegment view = call.allocate(TENSOR);
          check((MemorySegment) getOutput.invokeExact(context, text(call, name), view));
          computed.add(copy(view, results));
        }
        return computed;
      } finally {
        releaseContext.invokeExact(context);
      }
    }
  }

  private static MemorySegment write(Tensor tensor, Arena call) {
    MemorySegment view = call.allocate(TENSOR);
    view.set(JAVA_INT, 0, tensor.type());
    view.set(JAVA_INT, 4, tensor.shape().length);
    view.set(ADDRESS, 8, call.allocateFrom(JAVA_LONG, tensor.shape()));
    view.set(ADDRESS, 16, tensor.data());
    view.set(JAVA_LONG, 24, tensor.data().byteSize());
    return view;
  }

  private static Tensor copy(MemorySegment view, Arena results) {
    int rank = view.get(JAVA_INT, 4);
    long[] shape = view.get(ADDRESS, 8).reinterpret(rank * 8L).toArray(JAVA_LONG);
    long bytes = view.get(JAVA_LONG, 24);
    MemorySegment data = results.allocate(Math.max(bytes, 1), 16).asSlice(0, bytes);
    data.copyFrom(view.get(ADDRESS, 16).reinterpret(bytes));
    return new Tensor(view.get(JAVA_INT, 0), shape, data);
  }

  private void check(MemorySegment status) throws Throwable {
    if (status.address() != 0) {
      String text = read((MemorySegment) message.invokeExact(status));
      int number = (int) code.invokeExact(status);
      releaseStatus.invokeExact(status);
      throw new Failure(number, text);
    }
  }

  private static String read(MemorySegment text) {
    return text.address() == 0 ? null : text.reinterpret(Long.MAX_VALUE).getString(0);
  }

  private static MemorySegment text(Arena call, String text) {
    return text == null ? MemorySegment.NULL : call.allocateFrom(text);
  }
}

using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using System.Threading.Tasks;

namespace Latenn
{
    /// <summary>A loaded model. It may be used from several threads at once, and disposed while they run.</summary>
    public sealed partial class Model : IDisposable
    {
        private readonly ModelHandle _handle;
        private readonly Dictionary<string, int> _inputs = new Dictionary<string, int>(StringComparer.Ordinal);

        private Model(ModelHandle handle)
        {
            _handle = handle;
            Inputs = Ports(Native.InputCount(handle), index => Native.Input(handle, index));
            Outputs = Ports(Native.OutputCount(handle), index => Native.Output(handle, index));
            for (int i = 0; i < Inputs.Count; i++)
                _inputs[Inputs[i].Name] = i;
            Backend = Utf8.Read(Native.ModelBackend(handle));
            Report = Utf8.Read(Native.ModelReport(handle));
        }

        /// <summary>The inputs in the model's order.</summary>
        public IReadOnlyList<Port> Inputs { get; }

        /// <summary>The outputs in the model's order.</summary>
        public IReadOnlyList<Port> Outputs { get; }

        /// <summary>The name of the backend that runs the model.</summary>
        public string Backend { get; }

        /// <summary>The report on the runtime that the backend bound, as JSON.</summary>
        public string Report { get; }

        /// <summary>Loads a model from a file. Data that the model keeps next to itself is found next to it.</summary>
        /// <exception cref="LatennException">The native library, a backend, the runtime or the model is at fault.</exception>
        /// <exception cref="ArgumentException">The path or an option cannot be given to C.</exception>
        public static Model Load(string path, LoadOptions? options = null)
        {
            if (path == null)
                throw new ArgumentNullException(nameof(path));
            if (path.Length == 0)
                throw new ArgumentException("The path is empty.", nameof(path));
            Core.Ensure();
            using (var arena = new Arena())
            {
                Native.Options native = OptionsMarshal.ToNative(options, arena);
                Native.LoadPath(arena.Text(path, nameof(path)), ref native, out ModelHandle handle).Check();
                return Adopt(handle);
            }
        }

        /// <summary>Loads a model from memory, which is not needed afterwards.</summary>
        /// <exception cref="LatennException">The native library, a backend, the runtime or the model is at fault.</exception>
        /// <exception cref="ArgumentException">An option cannot be given to C.</exception>
        public static Model Load(byte[] bytes, LoadOptions? options = null)
        {
            if (bytes == null)
                throw new ArgumentNullException(nameof(bytes));
            using (var arena = new Arena())
                return LoadBytes(arena.Pin(bytes), bytes.LongLength, arena, options);
        }

        /// <summary>Loads a model from a stream, which is read to its end and left open.</summary>
        /// <exception cref="LatennException">The native library, a backend, the runtime or the model is at fault.</exception>
        /// <exception cref="ArgumentException">An option cannot be given to C.</exception>
        /// <exception cref="IOException">The stream cannot be read.</exception>
        public static Model Load(Stream stream, LoadOptions? options = null)
        {
            if (stream == null)
                throw new ArgumentNullException(nameof(stream));
            using (var copy = new MemoryStream())
            {
                stream.CopyTo(copy);
                return Load(copy.ToArray(), options);
            }
        }

        /// <summary>Runs the model once.</summary>
        /// <param name="inputs">A tensor for each of <see cref="Inputs"/>, by name.</param>
        /// <returns>The outputs, in the model's order when enumerated. They own their memory.</returns>
        /// <exception cref="LatennException">An input is unknown, missing or does not fit, or the runtime failed.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public IReadOnlyDictionary<string, Tensor> Run(IReadOnlyDictionary<string, Tensor> inputs)
        {
            return Run(inputs, (RunOptions?)null);
        }

        /// <summary>Runs the model once, on a thread of the pool.</summary>
        /// <param name="inputs">As for <see cref="Run(IReadOnlyDictionary{string, Tensor})"/>; they must stay as they are until the task ends.</param>
        /// <param name="cancellationToken">Cancels the run; where the backend cannot, one that has begun comes to its end.</param>
        /// <returns>The outputs, as <see cref="Run(IReadOnlyDictionary{string, Tensor})"/> gives them. What that throws, the task holds.</returns>
        public Task<IReadOnlyDictionary<string, Tensor>> RunAsync(IReadOnlyDictionary<string, Tensor> inputs, CancellationToken cancellationToken = default)
        {
            if (inputs == null)
                throw new ArgumentNullException(nameof(inputs));
            return cancellationToken.CanBeCanceled
                ? Task.Run(() => RunUntil(inputs, cancellationToken), cancellationToken)
                : Task.Run(() => Run(inputs));
        }

        /// <summary>Inputs and outputs that stay bound from run to run.</summary>
        /// <exception cref="LatennException">The backend cannot make another context.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public Binding Bind() => new Binding(this, ContextHandle.Create(_handle));

        internal ModelHandle Handle => _handle;

        internal int InputIndex(string name) => _inputs.TryGetValue(name ?? throw new ArgumentNullException(nameof(name)), out int index)
            ? index
            : throw new LatennException(LatennCode.InvalidArgument, $"The model has no input '{name}'; it has {string.Join(", ", Inputs)}.");

        internal int OutputIndex(string name)
        {
            if (name == null)
                throw new ArgumentNullException(nameof(name));
            for (int i = 0; i < Outputs.Count; i++)
            {
                if (string.Equals(Outputs[i].Name, name, StringComparison.Ordinal))
                    return i;
            }
            throw new LatennException(LatennCode.InvalidArgument, $"The model has no output '{name}'; it has {string.Join(", ", Outputs)}.");
        }

        /// <summary>Ends the model; runs that other threads have begun come to their end first.</summary>
        public void Dispose() => _handle.Dispose();

        private static Model LoadBytes(IntPtr bytes, long length, Arena arena, LoadOptions? options)
        {
            Core.Ensure();
            Native.Options native = OptionsMarshal.ToNative(options, arena);
            Native.LoadBytes(bytes, new UIntPtr((ulong)length), ref native, out ModelHandle handle).Check();
            return Adopt(handle);
        }

        private static Model Adopt(ModelHandle handle)
        {
            try
            {
                var model = new Model(handle);
                Runtime.Announce(model.Report);
                return model;
            }
            catch
            {
                handle.Dispose();
                throw;
            }
        }

        private static IReadOnlyList<Port> Ports(UIntPtr count, Func<UIntPtr, IntPtr> get)
        {
            var ports = new Port[checked((int)count.ToUInt64())];
            for (int i = 0; i < ports.Length; i++)
                ports[i] = Port.FromNative(get(new UIntPtr((uint)i)));
            return Array.AsReadOnly(ports);
        }

        private void Compute(ContextHandle context, Arena arena, IReadOnlyDictionary<string, Tensor> inputs, RunOptions? options = null)
        {
            foreach (KeyValuePair<string, Tensor> input in inputs)
                Bind(context, arena, input.Key, input.Value);
            (options == null ? Native.Compute(context) : Native.ComputeWith(context, options.Handle)).Check();
        }

        private void Bind(ContextHandle context, Arena arena, string name, Tensor tensor)
        {
            if (tensor == null)
                throw new ArgumentNullException(nameof(tensor), $"The tensor for the input '{name}' is null.");
            int index = InputIndex(name);
            Native.TensorView view = TensorMarshal.ToNative(tensor, arena);
            Native.SetInput(context, new UIntPtr((uint)index), ref view).Check();
        }

        private IReadOnlyDictionary<string, Tensor> Collect(ContextHandle context, RunOptions? options)
        {
            var outputs = new List<KeyValuePair<string, Tensor>>(Outputs.Count);
            for (int i = 0; i < Outputs.Count; i++)
            {
                if (options != null && !options.Wants(Outputs[i].Name))
                    continue;
                Native.GetOutput(context, new UIntPtr((uint)i), out Native.TensorView view).Check();
                outputs.Add(new KeyValuePair<string, Tensor>(Outputs[i].Name, TensorMarshal.FromNative(view)));
            }
            return new TensorMap(outputs.ToArray());
        }
    }
}

#if NETSTANDARD2_1
using System;
using System.Collections.Generic;

namespace Latenn
{
    /// <summary>What the newer framework adds: models from spans, and outputs that are not copied.</summary>
    public sealed partial class Model
    {
        /// <summary>Loads a model from memory, which is not needed afterwards.</summary>
        /// <exception cref="LatennException">The native library, a backend, the runtime or the model is at fault.</exception>
        /// <exception cref="ArgumentException">An option cannot be given to C.</exception>
        public static unsafe Model Load(ReadOnlySpan<byte> bytes, LoadOptions? options = null)
        {
            using (var arena = new Arena())
            fixed (byte* start = bytes)
                return LoadBytes(start == null ? arena.Allocate(0) : (IntPtr)start, bytes.Length, arena, options);
        }

        /// <summary>Runs the model once and shows the outputs where the runtime left them, without a copy.</summary>
        /// <param name="inputs">A tensor for each of <see cref="Inputs"/>, by name.</param>
        /// <param name="reader">Is called once with the outputs, which end when it returns.</param>
        /// <exception cref="LatennException">An input is unknown, missing or does not fit, or the runtime failed.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public void Run(IReadOnlyDictionary<string, Tensor> inputs, OutputReader reader)
        {
            if (inputs == null)
                throw new ArgumentNullException(nameof(inputs));
            if (reader == null)
                throw new ArgumentNullException(nameof(reader));
            using (var arena = new Arena())
            using (ContextHandle context = ContextHandle.Create(_handle))
            {
                Compute(context, arena, inputs);
                var views = new Native.TensorView[Outputs.Count];
                for (int i = 0; i < views.Length; i++)
                    Native.GetOutput(context, new UIntPtr((uint)i), out views[i]).Check();
                reader(new OutputViews(Outputs, views));
            }
        }
    }
}
#endif

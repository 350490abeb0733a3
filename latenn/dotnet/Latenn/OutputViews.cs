#if NETSTANDARD2_1
using System;
using System.Collections.Generic;

namespace Latenn
{
    /// <summary>Looks at the outputs of a run while they are in the runtime's memory.</summary>
    /// <param name="outputs">Good until the reader returns.</param>
    public delegate void OutputReader(OutputViews outputs);

    /// <summary>The outputs of a run where the runtime left them; nothing is copied. It cannot outlive the reader it is given to.</summary>
    public readonly ref struct OutputViews
    {
        private readonly IReadOnlyList<Port> _ports;
        private readonly ReadOnlySpan<Native.TensorView> _views;

        internal OutputViews(IReadOnlyList<Port> ports, ReadOnlySpan<Native.TensorView> views)
        {
            _ports = ports;
            _views = views;
        }

        /// <summary>The type of an output's elements.</summary>
        /// <exception cref="KeyNotFoundException">The model has no output of that name.</exception>
        public ElementType GetElementType(string name) => (ElementType)_views[IndexOf(name)].Type;

        /// <summary>The dimensions of an output, none for a scalar.</summary>
        /// <exception cref="KeyNotFoundException">The model has no output of that name.</exception>
        public unsafe ReadOnlySpan<long> GetShape(string name)
        {
            ref readonly Native.TensorView view = ref _views[IndexOf(name)];
            return new ReadOnlySpan<long>((void*)view.Shape, view.Rank);
        }

        /// <summary>The elements of an output.</summary>
        /// <typeparam name="T">As for <see cref="Tensor.GetData{T}"/>; texts have no view, and bool is read as bytes, 0 for false.</typeparam>
        /// <exception cref="KeyNotFoundException">The model has no output of that name.</exception>
        /// <exception cref="InvalidOperationException">T is not the type of the elements.</exception>
        /// <exception cref="OverflowException">More elements than a span counts.</exception>
        public unsafe ReadOnlySpan<T> GetSpan<T>(string name)
            where T : unmanaged
        {
            ref readonly Native.TensorView view = ref _views[IndexOf(name)];
            ElementTypes.CheckView<T>((ElementType)view.Type, $"The elements of '{name}'");
            return new ReadOnlySpan<T>((void*)view.Data, checked((int)(view.Bytes.ToUInt64() / (ulong)sizeof(T))));
        }

        private int IndexOf(string name)
        {
            for (int i = 0; i < _ports.Count; i++)
            {
                if (string.Equals(_ports[i].Name, name, StringComparison.Ordinal))
                    return i;
            }
            throw new KeyNotFoundException($"The model has no output '{name}'; it has {string.Join(", ", _ports)}.");
        }
    }
}
#endif

#if NETSTANDARD2_1
using System;
using System.Buffers;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>What the newer framework adds: values of Memory, and spans of values.</summary>
    public sealed partial class Value
    {
        /// <summary>Memory as it lies: runs read it and write it in place. It is pinned until the value has no holder.</summary>
        /// <typeparam name="T">A number type; the value has its element type.</typeparam>
        /// <exception cref="ArgumentException">No tensor holds T.</exception>
        /// <exception cref="LatennException">The memory is not as long as the shape says.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public static unsafe Value Wrap<T>(Model model, Memory<T> memory, params long[] shape)
            where T : unmanaged
        {
            if (model == null)
                throw new ArgumentNullException(nameof(model));
            if (shape == null)
                throw new ArgumentNullException(nameof(shape));
            if (typeof(T) == typeof(bool))
                throw new ArgumentException("Memory of bool is not shared with native code: give bytes, and ElementType.Bool.", nameof(memory));
            ElementType type = ElementTypes.Of<T>();
            var pin = new Pin(memory.Pin());
            GCHandle owner = GCHandle.Alloc(pin);
            try
            {
                return Wrap(model, type, pin.Address, checked((long)memory.Length * sizeof(T)), shape, GCHandle.ToIntPtr(owner));
            }
            catch
            {
                owner.Free();
                pin.Dispose();
                throw;
            }
        }

        /// <summary>The elements where they lie. The span is good while the value, or a binding, holds the memory.</summary>
        /// <typeparam name="T">As for <see cref="Tensor.GetData{T}"/>; texts have no view, and bool is read as bytes, 0 for false.</typeparam>
        /// <exception cref="InvalidOperationException">T is not the type of the elements.</exception>
        /// <exception cref="LatennException">The memory lies on a device.</exception>
        /// <exception cref="ObjectDisposedException">The value was disposed.</exception>
        /// <exception cref="OverflowException">More elements than a span counts.</exception>
        public unsafe Span<T> GetSpan<T>()
            where T : unmanaged
        {
            AssertReadable();
            ElementTypes.CheckView<T>(ElementType, "The elements");
            var view = (Native.TensorView*)Native.ValueTensor(Handle);
            return new Span<T>((void*)view->Data, checked((int)(view->Bytes.ToUInt64() / (ulong)sizeof(T))));
        }

        /// <summary>Memory that stays in place until it is disposed of.</summary>
        private sealed class Pin : IDisposable
        {
            private MemoryHandle _handle;

            public Pin(MemoryHandle handle) => _handle = handle;

            public unsafe IntPtr Address => (IntPtr)_handle.Pointer;

            public void Dispose() => _handle.Dispose();
        }
    }
}
#endif

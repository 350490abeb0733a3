using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>
    /// A tensor whose memory stays where it is: an array that is lent to the runtime, or memory of the runtime's own.
    /// It is bound to a <see cref="Binding"/> without a copy, and outlives model and binding.
    /// </summary>
    public sealed partial class Value : IDisposable
    {
        /// <summary>Lives as long as the process: native code may call it at any time.</summary>
        private static readonly Native.ReleaseOwner ReleaseOwner = Release;

        private readonly long[] _shape;

        internal Value(ValueHandle handle)
        {
            Handle = handle;
            Native.TensorView view = View();
            ElementType = (ElementType)view.Type;
            _shape = new long[view.Rank];
            if (view.Rank > 0)
                Marshal.Copy(view.Shape, _shape, 0, view.Rank);
        }

        /// <summary>The type of the elements.</summary>
        public ElementType ElementType { get; }

        /// <summary>The dimensions, none for a scalar.</summary>
        public IReadOnlyList<long> Shape => Array.AsReadOnly(_shape);

        internal ValueHandle Handle { get; }

        /// <summary>Memory of the runtime's own, with elements that are not set.</summary>
        /// <exception cref="LatennException">The type or the shape does not fit, or the backend has no memory of its own.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public static Value Create(Model model, ElementType type, params long[] shape)
        {
            if (model == null)
                throw new ArgumentNullException(nameof(model));
            if (shape == null)
                throw new ArgumentNullException(nameof(shape));
            var device = new Native.Device { Type = Native.Cpu };
            Native.ValueCreate(model.Handle, (int)type, shape.Length, shape, device, out ValueHandle handle).Check();
            return new Value(handle);
        }

        /// <summary>An array as it lies: runs read it and write it in place. It is pinned until the value has no holder.</summary>
        /// <typeparam name="T">A number type; the value has its element type. For others give bytes.</typeparam>
        /// <exception cref="ArgumentException">No tensor holds T.</exception>
        /// <exception cref="LatennException">The array is not as long as the shape says.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public static Value Wrap<T>(Model model, T[] array, params long[] shape)
            where T : unmanaged
        {
            if (typeof(T) == typeof(bool))
                throw new ArgumentException("An array of bool is not shared with native code: give bytes, and ElementType.Bool.", nameof(array));
            return Pinned(model, ElementTypes.Of<T>(), array, shape);
        }

        /// <summary>The bytes of elements of any type but texts, as they lie: runs read them and write them in place.</summary>
        /// <exception cref="LatennException">The bytes are not as many as type and shape say.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public static Value WrapBytes(Model model, ElementType type, byte[] bytes, params long[] shape) => Pinned(model, type, bytes, shape);

        /// <summary>A tensor of its own memory, with a copy of the elements.</summary>
        /// <exception cref="LatennException">The memory lies on a device.</exception>
        /// <exception cref="ObjectDisposedException">The value was disposed.</exception>
        public Tensor ToTensor()
        {
            bool kept = false;
            try
            {
                Handle.DangerousAddRef(ref kept);
                AssertReadable();
                return TensorMarshal.FromNative(View());
            }
            finally
            {
                if (kept)
                    Handle.DangerousRelease();
            }
        }

        /// <summary>Ends this holder of the memory; bindings that use it hold it themselves.</summary>
        public void Dispose() => Handle.Dispose();

        private static unsafe Value Pinned(Model model, ElementType type, Array array, long[] shape)
        {
            if (model == null)
                throw new ArgumentNullException(nameof(model));
            if (array == null)
                throw new ArgumentNullException(nameof(array));
            if (shape == null)
                throw new ArgumentNullException(nameof(shape));
            GCHandle pin = GCHandle.Alloc(array, GCHandleType.Pinned);
            try
            {
                return Wrap(model, type, pin.AddrOfPinnedObject(), Buffer.ByteLength(array), shape, GCHandle.ToIntPtr(pin));
            }
            catch
            {
                pin.Free();
                throw;
            }
        }

        /// <summary>Memory as a value; when that has no holder any more, the owner, a GCHandle, ends.</summary>
        private static unsafe Value Wrap(Model model, ElementType type, IntPtr data, long bytes, long[] shape, IntPtr owner)
        {
            fixed (long* dimensions = shape)
            {
                var view = new Native.TensorView
                {
                    Type = (int)type,
                    Rank = shape.Length,
                    Shape = (IntPtr)dimensions,
                    Data = data,
                    Bytes = new UIntPtr((ulong)bytes),
                };
                var device = new Native.Device { Type = Native.Cpu };
                Native.ValueWrap(model.Handle, ref view, device, ReleaseOwner, owner, out ValueHandle handle).Check();
                return new Value(handle);
            }
        }

        private static void Release(IntPtr owner)
        {
            GCHandle handle = GCHandle.FromIntPtr(owner);
            object? target = handle.Target;
            handle.Free();
            (target as IDisposable)?.Dispose(); // a pin of Memory; an array is none
        }

        private Native.TensorView View() => Marshal.PtrToStructure<Native.TensorView>(Native.ValueTensor(Handle));

        private void AssertReadable()
        {
            Native.Device device = Native.ValueDevice(Handle);
            if (device.Type != Native.Cpu && device.Type != Native.CudaHost)
                throw new LatennException(LatennCode.Unsupported, $"The value lies on a device (DLPack's {device.Type}:{device.Id}), which a program cannot read.");
        }
    }
}

#if NETSTANDARD2_1
using System;
using System.Buffers;

namespace Latenn
{
    /// <summary>What the newer framework adds: tensors over memory that is not their own array. Nothing is copied.</summary>
    public sealed partial class Tensor
    {
        private readonly MemorySource? _memory;

        private Tensor(ElementType type, MemorySource memory, long[] shape) : this(type, memory.Length, shape) => _memory = memory;

        /// <summary>A tensor over memory: a part of an array, a pool's, or native. It is pinned while a run looks at it.</summary>
        /// <typeparam name="T">One of the number types that <see cref="Create(float[], long[])"/> and its siblings take, or bool.</typeparam>
        /// <param name="data">The elements in C order; held, not copied.</param>
        /// <param name="shape">The dimensions; none for a scalar.</param>
        /// <exception cref="ArgumentException">The memory is longer or shorter than the shape says, or no tensor holds T.</exception>
        public static Tensor Create<T>(ReadOnlyMemory<T> data, params long[] shape)
            where T : unmanaged => new Tensor(ElementTypes.Of<T>(), new MemorySource<T>(data), shape);

        /// <summary>A tensor over memory: a part of an array, a pool's, or native. It is pinned while a run looks at it.</summary>
        /// <inheritdoc cref="Create{T}(ReadOnlyMemory{T}, long[])"/>
        public static Tensor Create<T>(Memory<T> data, params long[] shape)
            where T : unmanaged => Create((ReadOnlyMemory<T>)data, shape);

        /// <summary>A tensor over the bytes of a type without a .NET counterpart: float16, bfloat16, float8, int4, complex.</summary>
        /// <param name="type">The type of the elements.</param>
        /// <param name="bytes">Little-endian, C order, four-bit elements two to a byte; held, not copied.</param>
        /// <param name="shape">The dimensions; none for a scalar.</param>
        /// <exception cref="ArgumentException">The number of bytes does not fit, or the type has a .NET counterpart or no bytes.</exception>
        public static Tensor Create(ElementType type, ReadOnlyMemory<byte> bytes, params long[] shape)
        {
            if (ElementTypes.Bits(type) == 0 || (type != ElementType.UInt8 && ElementTypes.Storage(type) != typeof(byte)))
                throw new ArgumentException($"The elements of a {type} tensor are no bytes: use Create<T> or FromBytes.", nameof(type));
            return new Tensor(type, new MemorySource<byte>(bytes), shape);
        }

        /// <summary>A tensor of any type but strings from its bytes: little-endian, C order. The bytes are copied.</summary>
        /// <inheritdoc cref="FromBytes(ElementType, byte[], long[])"/>
        public static unsafe Tensor FromBytes(ElementType type, ReadOnlySpan<byte> bytes, params long[] shape)
        {
            if (shape == null)
                throw new ArgumentNullException(nameof(shape));
            fixed (byte* source = bytes)
                return FromMemory(type, source, bytes.Length, shape);
        }

        /// <summary>The elements where they lie; nothing is copied.</summary>
        /// <typeparam name="T">As for <see cref="GetData{T}"/>.</typeparam>
        /// <exception cref="InvalidOperationException">T is not the type of the elements.</exception>
        public ReadOnlyMemory<T> GetMemory<T>()
        {
            ElementTypes.CheckStorage<T>(ElementType);
            return _memory is MemorySource<T> source ? source.Memory : (T[])(object)_array!;
        }

        /// <summary>The elements where they lie; nothing is copied.</summary>
        /// <typeparam name="T">As for <see cref="GetData{T}"/>.</typeparam>
        /// <exception cref="InvalidOperationException">T is not the type of the elements.</exception>
        public ReadOnlySpan<T> GetSpan<T>() => GetMemory<T>().Span;

        /// <summary>The elements' address until the arena is disposed.</summary>
        internal IntPtr Pin(Arena arena) => _memory?.Pin(arena) ?? arena.Pin(_array!);

        private Array ToArray() => _array ?? _memory!.ToArray();

        /// <summary>Memory whose type only its maker knows.</summary>
        private abstract class MemorySource
        {
            public abstract long Length { get; }

            public abstract Array ToArray();

            public abstract IntPtr Pin(Arena arena);
        }

        private sealed class MemorySource<T> : MemorySource
        {
            public MemorySource(ReadOnlyMemory<T> memory) => Memory = memory;

            public ReadOnlyMemory<T> Memory { get; }

            public override long Length => Memory.Length;

            public override Array ToArray() => Memory.ToArray();

            public override unsafe IntPtr Pin(Arena arena)
            {
                MemoryHandle pin = Memory.Pin();
                arena.Keep(pin);
                // Empty memory has no address, and C asks for one.
                return pin.Pointer == null ? arena.Allocate(0) : (IntPtr)pin.Pointer;
            }
        }
    }
}
#endif

using System;
using System.Collections.Generic;
using System.Collections.ObjectModel;

namespace Latenn
{
    /// <summary>
    /// A tensor: elements in C order, a type and a shape. It holds the array that it was made from and does not copy
    /// it; anyone who changes that array changes the tensor. Reading one tensor from several threads is safe.
    /// </summary>
    public sealed partial class Tensor
    {
        private readonly Array? _array;
        private readonly long[] _shape;

        private Tensor(ElementType type, Array data, long[] shape)
            : this(type, data?.LongLength ?? throw new ArgumentNullException(nameof(data)), shape) => _array = data;

        private Tensor(ElementType type, long length, long[] shape)
        {
            if (shape == null)
                throw new ArgumentNullException(nameof(shape));
            _shape = (long[])shape.Clone();
            ElementType = type;
            Count = CountOf(_shape);
            long expected = type == ElementType.String ? Count : StorageLength(type, Count);
            if (length != expected)
                throw new ArgumentException(
                    $"A {type} tensor of shape [{string.Join(", ", _shape)}] needs an array of {expected} {ElementTypes.Storage(type).Name}, and this one has {length}.",
                    "data");
        }

        /// <summary>The type of the elements.</summary>
        public ElementType ElementType { get; }

        /// <summary>The dimensions; none for a scalar.</summary>
        public IReadOnlyList<long> Shape => new ReadOnlyCollection<long>(_shape);

        /// <summary>The number of elements: 1 for a scalar, 0 where a dimension is 0.</summary>
        public long Count { get; }

        internal long[] RawShape => _shape;

        /// <summary>A tensor of 32-bit floating point numbers.</summary>
        /// <param name="data">The elements in C order; held, not copied.</param>
        /// <param name="shape">The dimensions; none for a scalar.</param>
        /// <exception cref="ArgumentException">The array is longer or shorter than the shape says.</exception>
        public static Tensor Create(float[] data, params long[] shape) => new Tensor(ElementType.Float32, data, shape);

        /// <summary>A tensor of 64-bit floating point numbers.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(double[] data, params long[] shape) => new Tensor(ElementType.Float64, data, shape);

        /// <summary>A tensor of signed 8-bit numbers.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(sbyte[] data, params long[] shape) => new Tensor(ElementType.Int8, data, shape);

        /// <summary>A tensor of unsigned 8-bit numbers. For raw bytes of another type see <see cref="FromBytes(ElementType, byte[], long[])"/>.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(byte[] data, params long[] shape) => new Tensor(ElementType.UInt8, data, shape);

        /// <summary>A tensor of signed 16-bit numbers.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(short[] data, params long[] shape) => new Tensor(ElementType.Int16, data, shape);

        /// <summary>A tensor of unsigned 16-bit numbers.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(ushort[] data, params long[] shape) => new Tensor(ElementType.UInt16, data, shape);

        /// <summary>A tensor of signed 32-bit numbers.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(int[] data, params long[] shape) => new Tensor(ElementType.Int32, data, shape);

        /// <summary>A tensor of unsigned 32-bit numbers.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(uint[] data, params long[] shape) => new Tensor(ElementType.UInt32, data, shape);

        /// <summary>A tensor of signed 64-bit numbers.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(long[] data, params long[] shape) => new Tensor(ElementType.Int64, data, shape);

        /// <summary>A tensor of unsigned 64-bit numbers.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(ulong[] data, params long[] shape) => new Tensor(ElementType.UInt64, data, shape);

        /// <summary>A tensor of truth values.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(bool[] data, params long[] shape) => new Tensor(ElementType.Bool, data, shape);

        /// <summary>A tensor of texts, none of them null.</summary>
        /// <inheritdoc cref="Create(float[], long[])"/>
        public static Tensor Create(string[] data, params long[] shape)
        {
            var tensor = new Tensor(ElementType.String, data, shape);
            if (Array.IndexOf(data, null!) >= 0)
                throw new ArgumentException("An element of a tensor of texts is null.", nameof(data));
            return tensor;
        }

        /// <summary>A tensor of any type but strings from its bytes: little-endian, C order. The bytes are copied.</summary>
        /// <param name="type">The type of the elements.</param>
        /// <param name="bytes">The bytes; four-bit elements two to a byte, the first in the low half.</param>
        /// <param name="shape">The dimensions; none for a scalar.</param>
        /// <exception cref="ArgumentException">The number of bytes does not fit, or the type is none that has bytes.</exception>
        public static unsafe Tensor FromBytes(ElementType type, byte[] bytes, params long[] shape)
        {
            if (bytes == null)
                throw new ArgumentNullException(nameof(bytes));
            if (shape == null)
                throw new ArgumentNullException(nameof(shape));
            fixed (byte* source = bytes)
                return FromMemory(type, source, bytes.LongLength, shape);
        }

        /// <summary>The elements as an array: the one that the tensor was made from, or that a run gave it. A tensor that was
        /// made from Memory gives a copy.</summary>
        /// <typeparam name="T">The .NET type of the element type: <see cref="float"/> for Float32 and so on, and
        /// <see cref="byte"/> for those without a counterpart (float16, bfloat16, float8, int4, complex), whose raw
        /// bytes are given. Texts that came from a runtime and were no valid UTF-8 hold U+FFFD in the wrong places.</typeparam>
        /// <exception cref="InvalidOperationException">T is not the type of the elements.</exception>
        public T[] GetData<T>()
        {
            ElementTypes.CheckStorage<T>(ElementType);
            return (T[])(object)ToArray();
        }

        /// <summary>A copy of the elements' bytes: little-endian, C order.</summary>
        /// <exception cref="InvalidOperationException">The tensor holds texts, which have no fixed size.</exception>
        public byte[] ToBytes()
        {
            if (ElementType == ElementType.String)
                throw new InvalidOperationException("A tensor of texts has no bytes of its own: use GetData<string>().");
            var bytes = new byte[ElementTypes.Bytes(ElementType, Count)];
            Buffers.Copy(ToArray(), bytes);
            return bytes;
        }

        /// <summary>Type and shape, for messages: "Float32[2, 3]".</summary>
        public override string ToString() => $"{ElementType}[{string.Join(", ", _shape)}]";

        /// <summary>A tensor that owns a copy of native memory.</summary>
        internal static unsafe Tensor FromMemory(ElementType type, byte* source, long bytes, long[] shape)
        {
            if (ElementTypes.Bits(type) == 0)
                throw new ArgumentException($"The element type {type} has no bytes.", nameof(type));
            long count = CountOf(shape);
            if (bytes != ElementTypes.Bytes(type, count))
                throw new ArgumentException(
                    $"A {type} tensor of shape [{string.Join(", ", shape)}] has {ElementTypes.Bytes(type, count)} bytes, and {bytes} were given.",
                    nameof(bytes));
            Array data = Array.CreateInstance(ElementTypes.Storage(type), StorageLength(type, count));
            Buffers.Fill(data, source, bytes);
            return new Tensor(type, data, shape);
        }

#if !NETSTANDARD2_1
        /// <summary>The elements' address until the arena is disposed.</summary>
        internal IntPtr Pin(Arena arena) => arena.Pin(ToArray());

        private Array ToArray() => _array!;
#endif

        private static long StorageLength(ElementType type, long count) =>
            ElementTypes.Storage(type) == typeof(byte) ? ElementTypes.Bytes(type, count) : count;

        private static long CountOf(long[] shape)
        {
            long count = 1;
            foreach (long dimension in shape)
            {
                if (dimension < 0)
                    throw new ArgumentException($"The dimension {dimension} is negative.", nameof(shape));
                try
                {
                    count = checked(count * dimension);
                }
                catch (OverflowException problem)
                {
                    throw new ArgumentException("The shape has more elements than a long counts.", nameof(shape), problem);
                }
            }
            return count;
        }
    }
}

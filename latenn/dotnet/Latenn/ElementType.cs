using System;

namespace Latenn
{
    /// <summary>The type of a tensor's elements, numbered as in ONNX's <c>TensorProto.DataType</c>.</summary>
    public enum ElementType
    {
        /// <summary>No type.</summary>
        Undefined = 0,
        /// <summary>IEEE 754 binary32; <see cref="float"/>.</summary>
        Float32 = 1,
        /// <summary><see cref="byte"/>.</summary>
        UInt8 = 2,
        /// <summary><see cref="sbyte"/>.</summary>
        Int8 = 3,
        /// <summary><see cref="ushort"/>.</summary>
        UInt16 = 4,
        /// <summary><see cref="short"/>.</summary>
        Int16 = 5,
        /// <summary><see cref="int"/>.</summary>
        Int32 = 6,
        /// <summary><see cref="long"/>.</summary>
        Int64 = 7,
        /// <summary><see cref="string"/>, UTF-8 in the runtime.</summary>
        String = 8,
        /// <summary><see cref="bool"/>, one byte an element.</summary>
        Bool = 9,
        /// <summary>IEEE 754 binary16; raw bytes.</summary>
        Float16 = 10,
        /// <summary>IEEE 754 binary64; <see cref="double"/>.</summary>
        Float64 = 11,
        /// <summary><see cref="uint"/>.</summary>
        UInt32 = 12,
        /// <summary><see cref="ulong"/>.</summary>
        UInt64 = 13,
        /// <summary>Two binary32, real part first; raw bytes.</summary>
        Complex64 = 14,
        /// <summary>Two binary64, real part first; raw bytes.</summary>
        Complex128 = 15,
        /// <summary>The upper half of a binary32; raw bytes.</summary>
        BFloat16 = 16,
        /// <summary>Eight bits, four of exponent, no infinities; raw bytes.</summary>
        Float8E4M3FN = 17,
        /// <summary>Eight bits, four of exponent, no infinities, no negative zero; raw bytes.</summary>
        Float8E4M3FNUZ = 18,
        /// <summary>Eight bits, five of exponent; raw bytes.</summary>
        Float8E5M2 = 19,
        /// <summary>Eight bits, five of exponent, no infinities, no negative zero; raw bytes.</summary>
        Float8E5M2FNUZ = 20,
        /// <summary>Four bits, two elements to a byte, the first in the low half; raw bytes.</summary>
        UInt4 = 21,
        /// <summary>Four bits, two elements to a byte, the first in the low half; raw bytes.</summary>
        Int4 = 22,
    }

    /// <summary>What the binding must know of each element type; it knows nothing of memory.</summary>
    internal static class ElementTypes
    {
        /// <summary>Bits of one element, by the numbers above.</summary>
        private static readonly byte[] BitsOf = { 0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4 };

        /// <summary>Bits of one element; 0 for strings and for what is not known.</summary>
        public static int Bits(ElementType type) => type >= 0 && (int)type < BitsOf.Length ? BitsOf[(int)type] : 0;

        /// <summary>The .NET type of an element of the array that holds the data: <see cref="byte"/> for raw types.</summary>
        public static Type Storage(ElementType type)
        {
            switch (type)
            {
                case ElementType.Float32: return typeof(float);
                case ElementType.Float64: return typeof(double);
                case ElementType.Int8: return typeof(sbyte);
                case ElementType.Int16: return typeof(short);
                case ElementType.UInt16: return typeof(ushort);
                case ElementType.Int32: return typeof(int);
                case ElementType.UInt32: return typeof(uint);
                case ElementType.Int64: return typeof(long);
                case ElementType.UInt64: return typeof(ulong);
                case ElementType.Bool: return typeof(bool);
                case ElementType.String: return typeof(string);
                default: return typeof(byte);
            }
        }

        /// <summary>The element type that a .NET number type or <see cref="bool"/> holds.</summary>
        /// <exception cref="ArgumentException">No tensor holds T.</exception>
        public static ElementType Of<T>()
        {
            for (ElementType type = 0; (int)type < BitsOf.Length; type++)
            {
                if (Storage(type) == typeof(T) && (typeof(T) != typeof(byte) || type == ElementType.UInt8))
                    return type;
            }
            throw new ArgumentException($"No tensor holds elements of the .NET type {typeof(T).Name}.");
        }

        /// <summary>Returns where T is how memory of the elements is read: bool as bytes, 0 for false, since the runtime may
        /// hold any other byte for true, which a bool of .NET must not.</summary>
        /// <exception cref="InvalidOperationException">T is not the type of the elements.</exception>
        public static void CheckView<T>(ElementType type, string what) =>
            Check<T>(type == ElementType.Bool ? typeof(byte) : Storage(type), type, what);

        /// <summary>Returns where T is the .NET type of the elements.</summary>
        /// <exception cref="InvalidOperationException">It is not.</exception>
        public static void CheckStorage<T>(ElementType type) => Check<T>(Storage(type), type, "The elements");

        private static void Check<T>(Type storage, ElementType type, string what)
        {
            if (typeof(T) != storage)
                throw new InvalidOperationException($"{what} are {type}: ask for {storage.Name}, not for {typeof(T).Name}.");
        }

        /// <summary>Bytes of <paramref name="count"/> elements, a half byte rounded up.</summary>
        /// <exception cref="OverflowException">More bytes than a long counts.</exception>
        public static long Bytes(ElementType type, long count) => checked((count * Bits(type) + 7) / 8);
    }
}

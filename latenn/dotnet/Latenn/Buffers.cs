using System;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>
    /// Bytes of arrays of numbers and truth values. Truth values go through a byte each: the runtime may hold any
    /// byte but 0 for true, and .NET does not pin arrays of bool everywhere.
    /// </summary>
    internal static class Buffers
    {
        /// <summary>Fills an array from memory that holds at least <paramref name="bytes"/>.</summary>
        public static unsafe void Fill(Array array, byte* source, long bytes)
        {
            if (bytes == 0)
                return;
            if (array is bool[] truths)
            {
                for (long i = 0; i < bytes; i++)
                    truths[i] = source[i] != 0;
                return;
            }
            GCHandle pin = GCHandle.Alloc(array, GCHandleType.Pinned);
            try
            {
                Buffer.MemoryCopy(source, (void*)pin.AddrOfPinnedObject(), (ulong)bytes, (ulong)bytes);
            }
            finally
            {
                pin.Free();
            }
        }

        /// <summary>The bytes of an array; they fill <paramref name="bytes"/> exactly.</summary>
        public static unsafe void Copy(Array array, byte[] bytes)
        {
            if (bytes.LongLength == 0)
                return;
            if (array is bool[] truths)
            {
                for (long i = 0; i < truths.LongLength; i++)
                    bytes[i] = truths[i] ? (byte)1 : (byte)0;
                return;
            }
            GCHandle pin = GCHandle.Alloc(array, GCHandleType.Pinned);
            try
            {
                fixed (byte* target = bytes)
                    Buffer.MemoryCopy((void*)pin.AddrOfPinnedObject(), target, (ulong)bytes.LongLength, (ulong)bytes.LongLength);
            }
            finally
            {
                pin.Free();
            }
        }
    }
}

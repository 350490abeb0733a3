using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

namespace Latenn
{
    /// <summary>Text between .NET and C. netstandard2.0 has no UTF-8 marshalling of its own, so it is done by hand.</summary>
    internal static class Utf8
    {
        /// <summary>Refuses lone surrogates instead of replacing them: a path must not silently become another path.</summary>
        public static readonly Encoding Strict = new UTF8Encoding(false, true);

        /// <summary>A zero-terminated text, "" for NULL. Bytes that are no UTF-8 become U+FFFD: this is for reading.</summary>
        public static unsafe string Read(IntPtr text)
        {
            if (text == IntPtr.Zero)
                return "";
            byte* start = (byte*)text;
            int length = 0;
            while (start[length] != 0)
                length = checked(length + 1);
            return Read(start, length);
        }

        /// <summary>A text of known length.</summary>
        public static unsafe string Read(byte* text, int length) => length == 0 ? "" : Encoding.UTF8.GetString(text, length);
    }

    /// <summary>Native memory for the arguments of one call, freed together. It is used by one thread.</summary>
    internal sealed class Arena : IDisposable
    {
        private readonly List<IntPtr> _blocks = new List<IntPtr>();
        private readonly List<GCHandle> _pins = new List<GCHandle>();
        private readonly List<IDisposable> _kept = new List<IDisposable>();

        /// <summary>Memory, at least one byte, so that an empty tensor has an address too.</summary>
        public IntPtr Allocate(long bytes)
        {
            IntPtr block = Marshal.AllocHGlobal(new IntPtr(Math.Max(bytes, 1)));
            _blocks.Add(block);
            return block;
        }

        /// <summary>The address of an array that the garbage collector leaves in place until <see cref="Dispose"/>.</summary>
        public IntPtr Pin(Array array)
        {
            GCHandle pin = GCHandle.Alloc(array, GCHandleType.Pinned);
            _pins.Add(pin);
            return pin.AddrOfPinnedObject();
        }

        /// <summary>Disposes of something together with the memory.</summary>
        public void Keep(IDisposable thing) => _kept.Add(thing);

        /// <summary>A zero-terminated UTF-8 copy; NULL for null.</summary>
        /// <exception cref="ArgumentException">The text holds a zero character or a lone surrogate.</exception>
        public IntPtr Text(string? text, string parameter)
        {
            if (text == null)
                return IntPtr.Zero;
            if (text.IndexOf('\0') >= 0)
                throw new ArgumentException("The text holds a zero character.", parameter);
            byte[] bytes;
            try
            {
                bytes = Utf8.Strict.GetBytes(text);
            }
            catch (EncoderFallbackException problem)
            {
                throw new ArgumentException("The text holds half of a surrogate pair.", parameter, problem);
            }
            IntPtr copy = Allocate(bytes.LongLength + 1);
            Marshal.Copy(bytes, 0, copy, bytes.Length);
            Marshal.WriteByte(copy, bytes.Length, 0);
            return copy;
        }

        /// <summary>A text that says something; NULL for null. C takes an empty one for none.</summary>
        /// <exception cref="ArgumentException">The text is empty, or holds a zero character or a lone surrogate.</exception>
        public IntPtr Choice(string? text, string parameter)
        {
            if (text != null && text.Length == 0)
                throw new ArgumentException("The text is empty. Give a value, or null to leave the choice open.", parameter);
            return Text(text, parameter);
        }

        /// <summary>An array of texts; NULL when there are none.</summary>
        public IntPtr Texts(IReadOnlyList<string> texts, string parameter)
        {
            if (texts.Count == 0)
                return IntPtr.Zero;
            IntPtr table = Allocate((long)texts.Count * IntPtr.Size);
            for (int i = 0; i < texts.Count; i++)
                Marshal.WriteIntPtr(table, i * IntPtr.Size, Text(texts[i] ?? throw new ArgumentException("A text is null.", parameter), parameter));
            return table;
        }

        /// <summary>Frees the memory and lets the arrays go.</summary>
        public void Dispose()
        {
            foreach (IDisposable thing in _kept)
                thing.Dispose();
            _kept.Clear();
            foreach (GCHandle pin in _pins)
                pin.Free();
            _pins.Clear();
            foreach (IntPtr block in _blocks)
                Marshal.FreeHGlobal(block);
            _blocks.Clear();
        }
    }
}

using System;
using System.Runtime.InteropServices;

namespace Demo
{
    /// <summary>What the native libraries of the two packages answer.</summary>
    public static class Numbers
    {
        /// <summary>Of the first package's library.</summary>
        public static int Core() { return demo_core(); }

        /// <summary>Of the second package's library.</summary>
        public static int Extra() { return demo_extra(); }

#if NETSTANDARD2_1
        /// <summary>Both, for those who have spans.</summary>
        public static void Write(Span<int> both)
        {
            both[0] = Core();
            both[1] = Extra();
        }
#endif

        [DllImport("demo_core", CallingConvention = CallingConvention.Cdecl)]
        private static extern int demo_core();

        [DllImport("demo_extra", CallingConvention = CallingConvention.Cdecl)]
        private static extern int demo_extra();
    }
}

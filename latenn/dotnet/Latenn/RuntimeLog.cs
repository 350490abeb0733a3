using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>How much a line of a runtime's log matters.</summary>
    public enum LogSeverity
    {
        /// <summary>Everything that goes on.</summary>
        Verbose = 0,

        /// <summary>What may be of interest.</summary>
        Info = 1,

        /// <summary>A problem that the runtime works around.</summary>
        Warning = 2,

        /// <summary>Something failed. The call that failed throws as well.</summary>
        Error = 3,

        /// <summary>Nothing goes on.</summary>
        Fatal = 4,
    }

    /// <summary>Hands a runtime's log to anyone who asked for it.</summary>
    internal static class RuntimeLog
    {
        /// <summary><c>latenn_log_fn</c>.</summary>
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void Writer(IntPtr user, int severity, IntPtr category, IntPtr message);

        // A model may log until its last value is released, and nothing reports that moment: what C was given stays.
        private static readonly Writer Kept = Write;
        private static readonly List<Action<LogSeverity, string, string>> Logs = new List<Action<LogSeverity, string, string>>();

        /// <summary>The address of <see cref="Write"/>.</summary>
        public static IntPtr Function { get; } = Marshal.GetFunctionPointerForDelegate(Kept);

        /// <summary>What C hands back with each line: the number of that log, from 1 on.</summary>
        public static IntPtr User(Action<LogSeverity, string, string>? log)
        {
            if (log == null)
                return IntPtr.Zero;
            lock (Logs)
            {
                int place = Logs.IndexOf(log);
                if (place < 0)
                {
                    place = Logs.Count;
                    Logs.Add(log);
                }
                return new IntPtr(place + 1);
            }
        }

        private static void Write(IntPtr user, int severity, IntPtr category, IntPtr message)
        {
            Action<LogSeverity, string, string> log;
            lock (Logs)
                log = Logs[(int)user - 1];
            try
            {
                log((LogSeverity)severity, Utf8.Read(category), Utf8.Read(message));
            }
#pragma warning disable CA1031 // nothing may be thrown through the runtime's own frames
            catch (Exception)
#pragma warning restore CA1031
            {
            }
        }
    }
}

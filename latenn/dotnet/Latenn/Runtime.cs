using System;
using System.Collections.Generic;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;
using System.Xml.Linq;

namespace Latenn
{
    /// <summary>What a warning says.</summary>
    public sealed class RuntimeWarningEventArgs : EventArgs
    {
        internal RuntimeWarningEventArgs(string message, string report)
        {
            Message = message;
            Report = report;
        }

        /// <summary>One sentence: more than one copy of the runtime is loaded.</summary>
        public string Message { get; }

        /// <summary>The whole report, as JSON.</summary>
        public string Report { get; }
    }

    /// <summary>What is known of the runtime that a backend binds.</summary>
    public static class Runtime
    {
        private static readonly object Gate = new object();
        private static readonly HashSet<string> Announced = new HashSet<string>(StringComparer.Ordinal);

        /// <summary>Raised once for each different warning, by the thread that loads. Nothing is ever printed.</summary>
        public static event EventHandler<RuntimeWarningEventArgs>? Warning;

        /// <summary>The version of the native library: "0.1.0".</summary>
        /// <exception cref="LatennException">The native library cannot be used.</exception>
        public static string Version
        {
            get
            {
                Core.Ensure();
                return Utf8.Read(Native.GetVersion());
            }
        }

        /// <summary>Binds the runtime of a backend without a model, and gives the report of what was tried, as JSON:
        /// where the runtime cannot be had, too, since then it says why.</summary>
        /// <exception cref="LatennException">There is no report: the native library or the backend is missing.</exception>
        public static string Report(LoadOptions? options = null)
        {
            Core.Ensure();
            using (var arena = new Arena())
            {
                Native.Options native = OptionsMarshal.ToNative(options, arena);
                StatusHandle status = Native.RuntimeReport(ref native, out IntPtr text);
                string report = Take(text);
                if (report.Length == 0)
                    status.Check();
                status.Dispose();
                Announce(report);
                return report;
            }
        }

        /// <summary>Raises <see cref="Warning"/> when a report carries one that was not raised before.</summary>
        internal static void Announce(string report)
        {
            EventHandler<RuntimeWarningEventArgs>? handlers = Warning;
            if (handlers == null)
                return;
            string message = WarningOf(report);
            if (message.Length == 0)
                return;
            lock (Gate)
            {
                if (!Announced.Add(message))
                    return;
            }
            handlers(null, new RuntimeWarningEventArgs(message, report));
        }

        private static string WarningOf(string report)
        {
            try
            {
                using (XmlDictionaryReader reader = JsonReaderWriterFactory.CreateJsonReader(Encoding.UTF8.GetBytes(report), XmlDictionaryReaderQuotas.Max))
                    return XElement.Load(reader).Element("warning")?.Value ?? "";
            }
            catch (XmlException)
            {
                return ""; // invalid JSON warns of nothing
            }
        }

        /// <summary>A text that is the caller's, read and released.</summary>
        internal static string Take(IntPtr text)
        {
            try
            {
                return Utf8.Read(text);
            }
            finally
            {
                if (text != IntPtr.Zero)
                    Native.TextRelease(text);
            }
        }
    }
}

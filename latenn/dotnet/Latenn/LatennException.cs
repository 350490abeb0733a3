using System;
using System.Globalization;
using System.Text;

namespace Latenn
{
    /// <summary>What kind of failure it was. The positive numbers are those of <c>latenn_code</c> in latenn.h.</summary>
    public enum LatennCode
    {
        /// <summary>The native library <c>latenn_core</c> itself cannot be loaded or has another interface.</summary>
        CoreUnavailable = -1,
        /// <summary>The caller's mistake: a name, a type, a shape.</summary>
        InvalidArgument = 1,
        /// <summary>There is no backend library for this model or of this name.</summary>
        BackendMissing = 2,
        /// <summary>A backend was found and cannot be used.</summary>
        BackendUnusable = 3,
        /// <summary>The backend is fine, its runtime is not: see <see cref="LatennException.Report"/>.</summary>
        RuntimeUnavailable = 4,
        /// <summary>The runtime refuses the model.</summary>
        ModelInvalid = 5,
        /// <summary>A sequence, map, optional or sparse value; an unknown element type.</summary>
        Unsupported = 6,
        /// <summary>The runtime failed while it computed.</summary>
        ComputeFailed = 7,
        /// <summary>Out of native memory.</summary>
        OutOfMemory = 8,
        /// <summary>A file cannot be read.</summary>
        IO = 9,
        /// <summary><see cref="RunOptions.Cancel"/> ended the run.</summary>
        Cancelled = 10,
    }

    /// <summary>A failure of latenn, of a backend or of its runtime.</summary>
    public sealed class LatennException : Exception
    {
        internal LatennException(LatennCode code, string message, string report = "", Exception? inner = null)
            : base(Show(message), inner)
        {
            Code = code;
            Report = report;
        }

        // Names of files come from outside: what is not a visible character could steer a terminal, or pass for another
        // name. Lines of messages are the only lines.
        private static string Show(string message)
        {
            var shown = new StringBuilder(message.Length);
            for (int i = 0; i < message.Length; i++)
            {
                int length = char.IsSurrogatePair(message, i) ? 2 : 1;
                bool isShown = message[i] == '\n' || IsVisible(CharUnicodeInfo.GetUnicodeCategory(message, i));
                shown.Append(isShown ? message.Substring(i, length) : "\uFFFD");
                i += length - 1;
            }
            return shown.ToString();
        }

        private static bool IsVisible(UnicodeCategory category) =>
            (category < UnicodeCategory.LineSeparator || category > UnicodeCategory.PrivateUse)
            && category != UnicodeCategory.OtherNotAssigned;

        /// <summary>What kind of failure it was.</summary>
        public LatennCode Code { get; }

        /// <summary>JSON that lists every library tried, where finding one failed; otherwise empty.</summary>
        public string Report { get; }
    }
}

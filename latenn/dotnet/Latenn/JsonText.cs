using System.Globalization;
using System.Text;

namespace Latenn
{
    /// <summary>
    /// Reads one text out of a JSON object: netstandard2.0 has no JSON without a package, and the report needs no
    /// more. It never throws: invalid JSON has no members.
    /// </summary>
    internal static class JsonText
    {
        /// <summary>The text of a member of the outermost object; "" where there is none or it is not text.</summary>
        public static string Member(string json, string name)
        {
            int depth = 0;
            bool expectName = false;
            for (int at = 0; at < json.Length; at++)
            {
                switch (json[at])
                {
                    case '{':
                        expectName = ++depth == 1;
                        break;
                    case '[':
                        depth++;
                        break;
                    case '}':
                    case ']':
                        depth--;
                        break;
                    case ',':
                        expectName = depth == 1;
                        break;
                    case '"':
                        string text = Text(json, ref at);
                        if (!expectName)
                            break;
                        expectName = false;
                        if (text != name)
                            break;
                        int value = Skip(json, at + 1);
                        return value < json.Length && json[value] == '"' ? Text(json, ref value) : "";
                }
            }
            return "";
        }

        /// <summary>The index after white space and one colon.</summary>
        private static int Skip(string json, int at)
        {
            while (at < json.Length && (char.IsWhiteSpace(json[at]) || json[at] == ':'))
                at++;
            return at;
        }

        /// <summary>The text whose opening quote is at <paramref name="at"/>, which moves to the closing one.</summary>
        private static string Text(string json, ref int at)
        {
            var text = new StringBuilder();
            for (at++; at < json.Length && json[at] != '"'; at++)
            {
                if (json[at] != '\\' || at + 1 >= json.Length)
                    text.Append(json[at]);
                else
                    Escape(json, ref at, text);
            }
            return text.ToString();
        }

        private static void Escape(string json, ref int at, StringBuilder text)
        {
            char kind = json[++at];
            int plain = "bfnrt".IndexOf(kind);
            if (plain >= 0)
            {
                text.Append("\b\f\n\r\t"[plain]);
            }
            else if (kind == 'u' && at + 4 < json.Length
                && ushort.TryParse(json.Substring(at + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ushort code))
            {
                text.Append((char)code);
                at += 4;
            }
            else
            {
                text.Append(kind);
            }
        }
    }
}

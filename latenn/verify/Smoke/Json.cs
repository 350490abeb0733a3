using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;
using System.Xml.Linq;

namespace Smoke
{
    /// <summary>
    /// JSON as XML, which .NET Framework can read and write, too ("Mapping Between JSON and XML" in its documentation):
    /// a member of an object is an element of its name, a member of an array one called item.
    /// </summary>
    internal static class Json
    {
        public static XElement Parse(string text) => Parse(Encoding.UTF8.GetBytes(text));

        public static XElement Parse(byte[] text)
        {
            using XmlDictionaryReader reader = JsonReaderWriterFactory.CreateJsonReader(text, XmlDictionaryReaderQuotas.Max);
            return XElement.Load(reader);
        }

        /// <summary>The member of an object; there is an exception when it has none of that name.</summary>
        public static XElement Member(this XElement value, string name) =>
            value.Element(name) ?? throw new InvalidDataException($"{name} is missing.");

        /// <summary>Writes an object or an array.</summary>
        public static void Write(XElement value, string path)
        {
            using FileStream stream = File.Create(path);
            using XmlDictionaryWriter writer = JsonReaderWriterFactory.CreateJsonWriter(stream);
            Named("root", value).WriteTo(writer);
        }

        public static XElement Object(params XElement[] members) => Value("object", members);

        public static XElement Array(IEnumerable<XElement> members) => Value("array", members.Select(one => Named("item", one)));

        public static XElement Texts(IEnumerable<string> texts) => Array(texts.Select(Text));

        public static XElement Text(string text) => Value("string", text);

        public static XElement Null() => Value("null", null);

        /// <summary>The value under that name: a member of an object.</summary>
        public static XElement Named(string name, XElement value) => new XElement(value) { Name = name };

        private static XElement Value(string type, object? content) =>
            new XElement("item", new XAttribute("type", type), content);
    }
}

using System;
using System.Collections;
using System.Collections.Generic;

namespace Latenn
{
    /// <summary>Named tensors that keep the order in which they were given, as a plain Dictionary does not promise to.</summary>
    internal sealed class TensorMap : IReadOnlyDictionary<string, Tensor>
    {
        private readonly KeyValuePair<string, Tensor>[] _items;
        private readonly Dictionary<string, Tensor> _index;

        public TensorMap(KeyValuePair<string, Tensor>[] items)
        {
            _items = items;
            _index = new Dictionary<string, Tensor>(items.Length, StringComparer.Ordinal);
            foreach (KeyValuePair<string, Tensor> item in items)
                _index[item.Key] = item.Value;
        }

        public int Count => _items.Length;

        public IEnumerable<string> Keys => Array.ConvertAll(_items, item => item.Key);

        public IEnumerable<Tensor> Values => Array.ConvertAll(_items, item => item.Value);

        public Tensor this[string key] => _index.TryGetValue(key, out Tensor value)
            ? value
            : throw new KeyNotFoundException($"The model has no output '{key}'; it has {string.Join(", ", Keys)}.");

        public bool ContainsKey(string key) => _index.ContainsKey(key);

        public bool TryGetValue(string key, out Tensor value) => _index.TryGetValue(key, out value);

        public IEnumerator<KeyValuePair<string, Tensor>> GetEnumerator() => ((IEnumerable<KeyValuePair<string, Tensor>>)_items).GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => _items.GetEnumerator();
    }
}

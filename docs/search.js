// The search takes a query as words. Without this, lunr reads ":", "+", "-", "~", "^", "*" and "\" of a pasted message as
// fields and operators, and the theme demands each word of a quotation.
const QUERY = 2; // what mkdocs-material sends its search worker for each query: SearchMessageType.QUERY

const FOLDERS = /[\w.@~:-]*[\\/](?:[^\s\\/,;:()]*[\\/])+/g; // of a path, before the file

const TORCH = /\b_ZNK?(3c10|2at|5torch)\w*/g; // C++ names of torch: no two have a word in common

// The sections of messages.md, each with the expressions that find its messages and its title: ci/gen/asked.py.
const MESSAGES = [];

function findTitle(text) {
  const finds = ([expressions]) => expressions.some((expression) => new RegExp(expression, "is").test(text));
  return MESSAGES.find(finds)?.[1] ?? "";
}

function isCode(word) {
  return /^LB\d{3}$/i.test(word); // of a check
}

function splitWords(text) {
  return text.split(/[\s:"*^~\\]+/).map((word) => word.replace(/^\W+/, "")).filter(Boolean);
}

function takeWords(text) {
  const query = text.replace(TORCH, "libtorch_cpu another torch");
  const short = query.replace(FOLDERS, (folders) => (folders.includes("homebrew") ? folders : "")); // says nothing else
  const words = splitWords(short);
  // ^1 makes a word match as a whole. The last word may be unfinished, unless it is short or a file's name.
  const isWhole = (word, place) => place < words.length - 1 || word.length < 4 || /\w[._]\w/.test(word);
  const title = splitWords(findTitle(text)).map((word) => `${word}^9`);
  const weigh = (word, place) => (isCode(word) ? `${word}^9` : isWhole(word, place) ? `${word}^1` : word);
  return [...title, ...words.map(weigh)].join(" ");
}

const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  const isQuery = message?.type === QUERY;
  return post.call(this, isQuery ? { ...message, data: takeWords(message.data) } : message, ...rest);
};

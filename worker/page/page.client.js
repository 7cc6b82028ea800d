const form = document.getElementById("try");
const status = document.getElementById("status");
const results = document.getElementById("results");
const button = form.querySelector("button");
const model = document.title.split(" ")[0];

document.getElementById("curl").textContent = `curl ${location.origin}/v1/embeddings \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "input": "a small boat"}'`;
document.getElementById("python").textContent = `from openai import OpenAI

client = OpenAI(base_url="${location.origin}/v1", api_key=KEY)
answer = client.embeddings.create(
    model="${model}", input=["a small boat"]
)
vector = answer.data[0].embedding`;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  status.textContent = "Asking …";
  results.replaceChildren();
  try {
    await rank();
  } catch (error) {
    status.textContent = `It did not work: ${error.message}`;
  } finally {
    button.disabled = false;
  }
});

async function rank() {
  const documents = form.documents.value.split("\n").filter((line) => line.trim() !== "");
  const headers = { "content-type": "application/json" };
  if (form.key.value) headers.authorization = `Bearer ${form.key.value}`;
  const started = performance.now();
  const response = await fetch("/search", {
    method: "POST",
    headers,
    body: JSON.stringify({ query: form.query.value, documents }),
  });
  if (response.status === 401) form.querySelector("details").open = true;
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  const ms = Math.round(performance.now() - started);
  status.textContent = `${documents.length} texts in ${ms} ms`;
  results.replaceChildren(...answer.results.map(({ index, score }) => row(documents[index], score)));
}

function row(text, score) {
  const item = document.createElement("li");
  const bar = document.createElement("progress");
  bar.max = 1;
  bar.value = Math.max(0, score);
  bar.ariaHidden = "true";
  const name = document.createElement("span");
  name.textContent = text;
  const number = document.createElement("span");
  number.className = "score";
  number.textContent = score.toFixed(3);
  item.append(bar, name, number);
  return item;
}

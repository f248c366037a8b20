// Gives each block of code a button that copies it, and lets the search work from a file. Without it, everything can be read.
"use strict";

const START = /^(?:>>>|\$) /;
const NEXT = /^(?:\.\.\.|>)(?: |$)/;
const CONFIRMED_MS = 1500;

// Of a session, only what was typed: lines with a prompt, and those that continue them.
function codeOf(text) {
  const lines = text.trimEnd().split("\n");
  if (!lines.some((line) => START.test(line))) return lines.join("\n");
  let isTyped = false;
  const typed = lines.filter((line, number) => {
    isTyped = START.test(line) || (isTyped && (NEXT.test(line) || lines[number - 1].endsWith("\\")));
    return isTyped;
  });
  return typed.map((line) => line.replace(START, "").replace(NEXT, "")).join("\n");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text); // browsers keep their clipboard from pages without TLS
  }
}

function copySelection(text) {
  const box = document.createElement("textarea");
  const focused = document.activeElement;
  box.value = text;
  document.body.append(box);
  box.select();
  const isCopied = document.execCommand("copy");
  box.remove();
  focused?.focus({ preventScroll: true });
  return isCopied;
}

function addCopy(block, status) {
  const button = document.createElement("button");
  const code = codeOf(block.textContent);
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy the code: ${code.split("\n", 1)[0]}`);
  button.addEventListener("click", async () => {
    button.textContent = status.textContent = (await copy(code)) ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = "Copy"; status.textContent = ""; }, CONFIRMED_MS);
  });
  block.after(button);
}

// The name of an option or a file does not break at its hyphens.
const SHORT = 24;

function keepShortCode() {
  for (const code of document.querySelectorAll("article code.literal")) {
    if (code.textContent.length <= SHORT) code.classList.add("short");
  }
}

function addCopies() {
  const status = document.createElement("div"); // tells a screen reader what the button shows
  status.className = "copy-status";
  status.setAttribute("role", "status");
  document.querySelector("article")?.append(status);
  for (const block of document.querySelectorAll("article .highlight > pre")) addCopy(block, status);
}

// A result fetches its page for a summary, which a page from a file may not do. A notebook with its outputs has no search.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
addCopies();
keepShortCode();

(() => {
  "use strict";

  const PAUSE = 150;

  // calls at most once a pause, with the newest answer alone
  function settled(act) {
    let timer = 0;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(act, PAUSE);
    };
  }

  function fields(form) {
    const typed = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (typeof value === "string") typed.set(name, value);
    }
    return typed;
  }

  // a file that is too large is refused before it is sent
  function watchSizes(form) {
    const largest = Number(form.dataset.largest);
    form.addEventListener("submit", (event) => {
      for (const input of form.querySelectorAll("input[type=file]")) {
        const file = input.files[0];
        const place = input.closest(".field");
        place.querySelector(".error")?.remove();
        if (!file || file.size <= largest) continue;
        event.preventDefault();
        const said = document.createElement("p");
        said.className = "error";
        said.setAttribute("role", "alert");
        said.textContent = `The file must have at most ${(largest / 1e9).toFixed(1)} GB to be uploaded here, got ${(file.size / 1e9).toFixed(1)} GB; give its path instead.`;
        place.append(said);
        input.focus();
      }
    });
  }

  // what does not matter for what was chosen is hidden
  function watchForm(form) {
    const show = (selector, wanted) => {
      for (const one of form.querySelectorAll(selector)) one.hidden = !wanted;
    };
    const chosen = (name) => form.querySelector(`[name="${name}"]:checked`)?.value;
    // the column whose values are the decisions: the one chosen, or the true labels
    const goodColumn = () => {
      const decision = form.elements.decision.value;
      if (decision !== "" || chosen("answers") !== "model") return decision;
      const selects = [...form.querySelectorAll(".column select")];
      return String(selects.findIndex((select) => select.value === "label"));
    };
    const arrange = () => {
      const byModel = chosen("answers") === "model";
      show(".only-model", byModel);
      show(".only-column", !byModel);
      show(".only-stated", chosen("similarity") === "mixed-tabular");
      show(".only-counterparts", chosen("similarity") === "counterparts");
      show(".only-distance", chosen("similarity") !== "ignore-sensitive");
      form.elements.decision.options[0].text = byModel ? "none: the model decides" : "choose";
      const good = goodColumn();
      for (const one of form.querySelectorAll("[data-good]")) one.hidden = one.dataset.good !== good;
      show(".only-without-good", !form.querySelector(`[data-good="${good}"]`));
      form.querySelectorAll(".column").forEach((row, at) => {
        const select = row.querySelector("select");
        const taken = row.querySelector(".taken");
        const isDecision = form.elements.decision.value === String(at) && select.value !== "score";
        const isGroup = form.elements[`group.${at}`]?.checked === true;
        const role = isDecision ? "prediction" : isGroup ? "sensitive" : select.value;
        row.dataset.role = role;
        select.hidden = isDecision || isGroup;
        taken.hidden = !select.hidden;
        taken.textContent = isDecision ? "the decision, chosen above" : "groups, chosen above";
        const scale = form.querySelector(`[data-scale="${at}"]`);
        if (scale) scale.hidden = role !== "case";
        const rightly = form.querySelector(`[data-legitimate="${at}"]`);
        if (rightly) rightly.hidden = role !== "case";
        const reference = form.querySelector(`[data-reference="${at}"]`);
        if (reference) reference.hidden = role !== "sensitive";
      });
    };
    const means = settled(async () => {
      const answer = await fetch(`${form.dataset.means}?${fields(form)}`);
      if (!answer.ok) return;
      for (const [name, words] of Object.entries(await answer.json())) {
        const place = document.getElementById(`means-${name}`);
        if (place && place.textContent !== words) place.textContent = words;
      }
    });
    form.addEventListener("change", arrange);
    form.addEventListener("input", means);
    form.addEventListener("change", means);
    arrange();
  }

  async function watchProgress(place) {
    const words = document.getElementById("words");
    const bar = document.getElementById("bar");
    for (;;) {
      const answer = await fetch(place.dataset.state).catch(() => null);
      if (answer === null) {
        words.textContent = "The app was closed. Start it again in the terminal.";
        bar.hidden = true;
        return;
      }
      const told = await answer.json();
      if (told.state !== "running") return location.reload();
      if (words.textContent !== told.words) words.textContent = told.words;
      if (told.total) {
        bar.max = told.total;
        bar.value = told.done;
      } else {
        bar.removeAttribute("value");
      }
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
  }

  function watchExplore(form) {
    const look = document.getElementById("look");
    let newest = 0;
    const follow = settled(async () => {
      const asked = (newest += 1);
      const answer = await fetch(`${form.action}?${fields(form)}&part=1`).catch(() => null);
      if (answer === null || asked !== newest) return;
      const text = await answer.text();
      if (asked === newest) look.innerHTML = text;
    });
    for (const slider of form.querySelectorAll("input[type=range]")) {
      const box = form.elements[slider.dataset.for];
      slider.hidden = false;
      slider.addEventListener("input", () => {
        box.value = String(Number(Number(slider.value).toPrecision(4)));
        follow();
      });
      box.addEventListener("input", () => {
        if (box.value.trim() !== "" && Number.isFinite(Number(box.value))) slider.value = box.value;
        follow();
      });
      // typed before this script was there, or filled in again by the browser
      if (box.value !== box.defaultValue) box.dispatchEvent(new Event("input"));
    }
  }

  for (const form of document.querySelectorAll("form[data-largest]")) watchSizes(form);
  const audit = document.getElementById("audit");
  if (audit) watchForm(audit);
  const progress = document.querySelector("[data-state]");
  if (progress) watchProgress(progress);
  const explore = document.getElementById("explore");
  if (explore) watchExplore(explore);
  document.documentElement.dataset.ready = "yes";
})();

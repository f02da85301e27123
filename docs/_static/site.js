// the theme's triangles that open a part of the navigation have no name of their own
document.addEventListener("DOMContentLoaded", () => {
  for (const triangle of document.querySelectorAll(".bd-links summary")) {
    const part = triangle.closest("li")?.querySelector("a");
    triangle.setAttribute("aria-label", `Parts of ${part ? part.textContent.trim() : "this page"}`);
  }
});

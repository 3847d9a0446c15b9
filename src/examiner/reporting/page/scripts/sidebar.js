// The index follows: the section that is read is marked.
const links = new Map([...document.querySelectorAll(".side a")].map((link) => [link.hash.slice(1), link]));
const seen = new Set();
const follow = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target.id);
  const current = [...links.keys()].find((id) => seen.has(id) && !id.startsWith("chapter-"));
  for (const [id, link] of links) {
    if (id === current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  if (current && getComputedStyle(links.get(current).closest(".side")).position === "sticky") {
    links.get(current).scrollIntoView({ block: "nearest", behavior: "instant" });
  }
}, { rootMargin: "-10% 0px -60% 0px" });
for (const id of links.keys()) {
  const section = document.getElementById(id);
  if (section) follow.observe(section);
}
// On a narrow screen the index is closed until it is asked for.
if (window.matchMedia("(max-width: 62rem)").matches) document.querySelector(".side details")?.removeAttribute("open");

(() => {
  const stage = document.querySelector(".stage"), picture = stage.querySelector("svg");
  const w = picture.viewBox.baseVal.width, h = picture.viewBox.baseVal.height;
  let x = 0, y = 0, scale = 1; // scale: units of the picture for one pixel
  const show = () => picture.setAttribute("viewBox", `${x} ${y} ${stage.clientWidth * scale} ${stage.clientHeight * scale}`);
  const place = (s) => {
    scale = s;
    x = (w - stage.clientWidth * s) / 2;
    y = Math.min(0, (h - stage.clientHeight * s) / 2);
    show();
  };
  const whole = () => place(Math.max(w / stage.clientWidth, h / stage.clientHeight));
  const zoom = (factor, px = stage.clientWidth / 2, py = stage.clientHeight / 2) => {
    const next = Math.min(Math.max(scale * factor, 0.1), 1000);
    x += px * (scale - next);
    y += py * (scale - next);
    scale = next;
    show();
  };
  stage.classList.add("live");
  stage.style.height = `${Math.max(220, Math.min(h + 2, window.innerHeight * 0.78))}px`;
  picture.setAttribute("width", "100%");
  picture.setAttribute("height", "100%");
  place(Math.max(1, Math.min(w / stage.clientWidth, 2)));
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = stage.getBoundingClientRect();
    zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 120) * 0.0018), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  stage.addEventListener("pointerdown", (event) => {
    if (event.button || event.target.closest("button")) return;
    stage.setPointerCapture(event.pointerId);
    stage.classList.add("held");
  });
  stage.addEventListener("pointermove", (event) => {
    if (!stage.classList.contains("held")) return;
    x -= event.movementX * scale;
    y -= event.movementY * scale;
    show();
  });
  for (const over of ["pointerup", "pointercancel"]) stage.addEventListener(over, () => stage.classList.remove("held"));
  const deeds = { in: () => zoom(0.8), out: () => zoom(1.25), real: () => place(1), whole };
  for (const button of stage.querySelectorAll("button")) button.addEventListener("click", deeds[button.dataset.deed]);
  window.addEventListener("resize", show);
})();

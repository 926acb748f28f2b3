// Returns the texts whose contrast with what stands behind them is below 4.5 (WCAG 2.1; 3 for large ones).
const channels = (colour) => (colour.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
const linear = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
const behind = (element) => {
  for (let one = element; one; one = one.parentElement) {
    const colour = channels(getComputedStyle(one).backgroundColor);
    if (colour.length < 4 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
const faint = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const box = element.getBoundingClientRect();
  if (!own || !box.width || box.right < 0 || ["OPTION", "TITLE", "SCRIPT"].includes(element.tagName)) continue;
  const style = getComputedStyle(element), drawn = element instanceof SVGElement;
  const pair = [luminance(channels(drawn ? style.fill : style.color)), luminance(behind(element))].sort((a, b) => b - a);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.6 && style.fontWeight >= 700);
  const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
  if (contrast < (large ? 3 : 4.5)) faint.push(`${element.tagName} ${element.textContent.trim().slice(0, 30)} ${contrast.toFixed(2)}`);
}
return faint;

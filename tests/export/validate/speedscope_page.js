// speedscope_page.js MODULES CHROMIUM PROFILE AGAIN - opens a profile in speedscope's own page and prints
// what it shows, as JSON; saves what the page exports as AGAIN. Loopback only.
const [modules, chromium, profile, again] = process.argv.slice(2);
const fs = require('fs');
const http = require('http');
const path = require('path');
const playwright = require(path.join(modules, 'playwright-core'));

const release = path.join(modules, 'speedscope', 'dist', 'release');
const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
  const file = name === '/run.speedscope.json' ? profile : path.join(release, name);
  if (!fs.existsSync(file)) {
    response.writeHead(404);
    return response.end();
  }
  response.writeHead(200, { 'content-type': kinds[path.extname(file)] || 'application/octet-stream' });
  return fs.createReadStream(file).pipe(response);
});

async function look(at) {
  const browser = await playwright.chromium.launch({
    executablePath: chromium,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--use-gl=angle', '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader'], // the page wants WebGL
  });
  try {
    const page = await browser.newPage();
    const failures = [];
    page.on('pageerror', (error) => failures.push(error.message));
    await page.goto(`${at}/index.html#profileURL=${encodeURIComponent(`${at}/run.speedscope.json`)}`);
    await page.getByText('Sandwich').click({ timeout: 30000 });
    await page.getByText('Symbol Name').waitFor({ timeout: 30000 });
    const text = await page.evaluate(() => document.body.innerText);
    const download = page.waitForEvent('download', { timeout: 30000 });
    await page.getByText('Export').first().click();
    await (await download).saveAs(again);
    if (failures.length > 0) {
      throw new Error(failures.join('\n'));
    }
    process.stdout.write(JSON.stringify({ text }));
  } finally {
    await browser.close();
  }
}

server.listen(0, '127.0.0.1', () => {
  look(`http://127.0.0.1:${server.address().port}`)
    .catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exitCode = 1;
    })
    .finally(() => server.close());
});

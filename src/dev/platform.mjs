/** Runs before `npm start` and `npm test`, whose scripts need a POSIX shell. */
if (process.platform === "win32") {
  console.error(
    "This project needs Linux or macOS. On Windows, run it in WSL: https://learn.microsoft.com/windows/wsl",
  );
  process.exit(1);
}

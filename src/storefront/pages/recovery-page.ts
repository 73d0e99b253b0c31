import { type Html, html } from '#platform/http/html.ts'

export function recoveryPage(message: string | null): Html {
  return html`<div class="narrow">
<h1>Lost your key?</h1>
<p class="lead">We’ll email you the license keys of your purchases.</p>
${message && html`<div class="notice" role="status"><p>${message}.</p></div>`}
<form class="card" method="post" action="/recover">
<div class="field"><label for="email">Email</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254"></div>
<button class="button wide">Email my keys</button>
</form>
<p class="under">If you are signed in, you can also see them under <a href="/dashboard">your purchases</a>.</p>
</div>`
}
